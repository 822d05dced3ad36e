import { sendRequest } from "../../support/http.ts";

export const APP_URL = "https://app.example.com";

/** The page as it was answered, and what can be read on it. */
export type Page = { status: number; html: string; text: string };

export async function openPage(serverUrl: string, path: string, cookie: string): Promise<Page> {
  return pageOf(await sendRequest(serverUrl, "GET", path, { cookie }));
}

/**
 * Sends a form of a page as a browser without JavaScript does: with all that is hidden in it, and what was typed.
 * @param on a button or another text of the form, to tell it from others
 * @param fields typed, or put in the place of what was hidden
 */
export async function sendForm(
  serverUrl: string,
  path: string,
  cookie: string,
  { on, fields }: { on: string; fields: Record<string, string> },
): Promise<Page & { location: string | null }> {
  const { html } = await openPage(serverUrl, path, cookie);
  const form = [...html.matchAll(/<form\b.*?<\/form>/gs)]
    .map(([found]) => found)
    .find((one) => one.includes(on));
  if (form === undefined) throw new Error(`${path} has no form with "${on}"`);
  const body = new FormData();
  for (const [tag] of form.matchAll(/<input\b[^>]*>/g)) {
    if (attribute(tag, "type") === "hidden") body.set(attribute(tag, "name"), attribute(tag, "value"));
  }
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const answer = await fetch(`${serverUrl}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, origin: APP_URL },
    body,
  });
  const page = pageOf({ status: answer.status, text: await answer.text() });
  return { ...page, location: answer.headers.get("location") };
}

function pageOf({ status, text: html }: { status: number; text: string }): Page {
  const seen = html.replace(/<(script|style)\b.*?<\/\1>/gs, "").replace(/<!--.*?-->/g, "");
  return { status, html, text: unescaped(seen.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ") };
}

function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

function unescaped(text: string): string {
  const characters = { quot: '"', "#x27": "'", lt: "<", gt: ">", amp: "&" };
  return text.replace(
    /&(quot|#x27|lt|gt|amp);/g,
    (_, name: string) => characters[name as keyof typeof characters],
  );
}
