import { AdminOnlyMessage } from "./admin-only-message.tsx";
import { PublicPage } from "./public-page.tsx";

export default function Forbidden() {
  return (
    <PublicPage>
      <AdminOnlyMessage />
    </PublicPage>
  );
}
