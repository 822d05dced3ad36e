import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { PublicFrame } from "../ui/public-frame.tsx";
import { optionalUser } from "./gate/optional-user.ts";

/** The frame of public pages, in the reader's language. */
export async function PublicPage({ children }: { children: ReactNode }) {
  const [t, common, someone] = await Promise.all([
    getTranslations("landing"),
    getTranslations("common"),
    optionalUser(),
  ]);
  return (
    <PublicFrame
      isSomebody={someone !== null}
      labels={{
        product: common("product"),
        navigation: t("header.navigation"),
        plans: t("header.plans"),
        docs: t("header.docs"),
        signIn: t("header.signIn"),
        signUp: t("header.signUp"),
        dashboard: t("header.dashboard"),
        about: t("footer.about"),
      }}
    >
      {children}
    </PublicFrame>
  );
}
