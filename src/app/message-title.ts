import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";

/** The tab's title while a layout shows a message in place of its pages; replaces their titles. */
export async function messageTitle(title: string): Promise<Metadata> {
  const t = await getTranslations("common");
  const whole = `${title} · ${t("product")}`;
  return { title: { default: title, template: whole } };
}
