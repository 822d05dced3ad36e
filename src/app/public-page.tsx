import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { PublicFrame } from "../ui/public-frame.tsx";
import { visitor } from "./gate/visitor.ts";

/** The frame of pages for everybody, in the reader's language. */
export async function PublicPage({ children }: { children: ReactNode }) {
  const [words, common, someone] = await Promise.all([
    getTranslations("landing"),
    getTranslations("common"),
    visitor(),
  ]);
  return (
    <PublicFrame
      isSomebody={someone !== null}
      words={{
        product: common("product"),
        navigation: words("header.navigation"),
        plans: words("header.plans"),
        docs: words("header.docs"),
        signIn: words("header.signIn"),
        signUp: words("header.signUp"),
        dashboard: words("header.dashboard"),
        about: words("footer.about"),
      }}
    >
      {children}
    </PublicFrame>
  );
}
