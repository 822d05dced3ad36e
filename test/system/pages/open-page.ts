import { sendRequest } from "../../support/http.ts";

/** The origin that the servers of these tests are reached at. */
export const APP_URL = "https://app.example.com";

/** The page's HTML, and its visible text. */
type Page = { status: number; html: string; text: string };

export async function openPage(serverUrl: string, path: string, cookie: string): Promise<Page> {
  return pageOf(await sendRequest(serverUrl, "GET", path, { cookie }));
}

/**
 * Sends a form of a page as a browser without JavaScript does: with its hidden fields, and what was typed.
 * @param on a text of the form, such as its button, to identify it
 * @param fields typed values, or replacements of hidden ones
 * @throws Error without such a form, or such a field in it
 */
export async function sendForm(
  serverUrl: string,
  path: string,
  cookie: string,
  { on, fields }: { on: string; fields: Record<string, string> },
): Promise<Page & { location: string | null; headers: Headers }> {
  const { html } = await openPage(serverUrl, path, cookie);
  const form = [...html.matchAll(/<form\b.*?<\/form>/gs)]
    .map(([found]) => found)
    .find((form) => form.includes(on));
  if (form === undefined) throw new Error(`${path} has no form with "${on}"`);
  const body = new FormData();
  for (const [tag] of form.matchAll(/<input\b[^>]*>/g)) {
    if (attribute(tag, "type") === "hidden") body.set(attribute(tag, "name"), attribute(tag, "value"));
  }
  for (const [name, value] of Object.entries(fields)) {
    if (!form.includes(` name="${name}"`)) throw new Error(`the form with "${on}" has no field ${name}`);
    body.set(name, value);
  }
  const response = await sendRequest(serverUrl, "POST", path, {
    cookie,
    headers: { origin: APP_URL },
    body,
  });
  const { headers } = response;
  return { ...pageOf(response), location: headers.get("location"), headers };
}

function pageOf({ status, text: html }: { status: number; text: string }): Page {
  const visible = html.replace(/<(script|style)\b.*?<\/\1>/gs, "").replace(/<!--.*?-->/g, "");
  return { status, html, text: unescaped(visible.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ") };
}

function attribute(tag: string, name: string): string {
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

export function unescaped(text: string): string {
  const characters = { quot: '"', "#x27": "'", lt: "<", gt: ">", amp: "&" };
  return text.replace(
    /&(quot|#x27|lt|gt|amp);/g,
    (_, name: string) => characters[name as keyof typeof characters],
  );
}
