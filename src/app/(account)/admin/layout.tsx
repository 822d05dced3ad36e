import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { currentRequest } from "../../gate/request.ts";
import { messageTitle } from "../../message-title.ts";

/** Everybody but administrators sees a message in place of these pages. */
export async function generateMetadata(): Promise<Metadata> {
  const { person } = await currentRequest();
  const someone = await person().catch(() => null);
  if (someone === null || someone.role === "admin") return {};
  const t = await getTranslations("common.forbidden");
  return messageTitle(t("title"));
}

export default function AdministrationLayout({ children }: { children: ReactNode }) {
  return children;
}
