import { ForAdministrators } from "./for-administrators.tsx";
import { PublicPage } from "./public-page.tsx";

export default function Forbidden() {
  return (
    <PublicPage>
      <ForAdministrators />
    </PublicPage>
  );
}
