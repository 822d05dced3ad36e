import { NotFoundMessage } from "./not-found-message.tsx";
import { PublicPage } from "./public-page.tsx";
import { titled } from "./titled.ts";

export const generateMetadata = titled("common.notFound.title");

export default function NotFound() {
  return (
    <PublicPage>
      <NotFoundMessage />
    </PublicPage>
  );
}
