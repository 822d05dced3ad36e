import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import type { ReactNode } from "react";
import { AdminOnlyMessage } from "../admin-only-message.tsx";
import { NotFoundMessage } from "../not-found-message.tsx";
import { currentRequest } from "./request.ts";

type Message = "forbidden" | "not_found";

/**
 * A page that shows a message in place of what does not exist or may not be seen. What Next.js itself sends
 * for `notFound()` and `forbidden()` is empty until scripts have run.
 */
export function withMessage<Props>(
  render: (props: Props) => Promise<ReactNode>,
): (props: Props) => Promise<ReactNode> {
  return async (props) => {
    try {
      return await render(props);
    } catch (error) {
      const message = messageFor(error);
      if (message === null || !(await currentRequest()).setMessageStatus(message)) throw error;
      return message === "forbidden" ? <AdminOnlyMessage /> : <NotFoundMessage />;
    }
  };
}

/** The title of a page, or of the message in its place. Any other failure is left to the page. */
export async function pageTitle(loading: Promise<unknown>, title: string): Promise<Metadata> {
  const message = await loading.then(() => null, messageFor);
  if (message === null) return { title };
  const t = await getTranslations(message === "forbidden" ? "common.forbidden" : "common.notFound");
  return { title: t("title") };
}

/** By the documented status in the digest of Next.js's errors. */
function messageFor(error: unknown): Message | null {
  const digest = error instanceof Error && "digest" in error ? String(error.digest) : "";
  if (digest === "NEXT_HTTP_ERROR_FALLBACK;403") return "forbidden";
  return digest === "NEXT_HTTP_ERROR_FALLBACK;404" ? "not_found" : null;
}
