import type { ReactNode } from "react";
import { PublicPage } from "../public-page.tsx";

export default function PublicLayout({ children }: { children: ReactNode }) {
  return <PublicPage>{children}</PublicPage>;
}
