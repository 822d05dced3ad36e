import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { AdminOnlyMessage } from "../admin-only-message.tsx";
import { NotFoundMessage } from "../not-found-message.tsx";
import { currentRequest } from "./request.ts";

type PageRefusal = "forbidden" | "not_found";

/**
 * Renders a 403 or 404 page in place of one that calls `forbidden()` or `notFound()`: what Next.js itself
 * sends is empty until scripts have run.
 */
export function withRefusalPage<Props>(
  render: (props: Props) => Promise<ReactNode>,
): (props: Props) => Promise<ReactNode> {
  return async (props) => {
    try {
      return await render(props);
    } catch (error) {
      const refusal = pageRefusalOf(error);
      if (refusal === null || !(await currentRequest()).setRefusalStatus(refusal)) throw error;
      return refusal === "forbidden" ? <AdminOnlyMessage /> : <NotFoundMessage />;
    }
  };
}

/** The title of a page, or of the refusal page in its place. Any other failure is left to the page. */
export async function pageTitle(loading: Promise<unknown>, title: string): Promise<Metadata> {
  const refusal = await loading.then(() => null, pageRefusalOf);
  if (refusal === null) return { title };
  const t = await getTranslations(refusal === "forbidden" ? "common.forbidden" : "common.notFound");
  return { title: t("title") };
}

/** By the documented status in the digest of Next.js's errors. */
function pageRefusalOf(error: unknown): PageRefusal | null {
  const digest = error instanceof Error && "digest" in error ? String(error.digest) : "";
  if (digest === "NEXT_HTTP_ERROR_FALLBACK;403") return "forbidden";
  return digest === "NEXT_HTTP_ERROR_FALLBACK;404" ? "not_found" : null;
}
