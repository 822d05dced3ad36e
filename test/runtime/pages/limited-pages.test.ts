import { beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { callAction, findServerAction, formBody, postForm } from "../../support/server-action.ts";

describe("a page that is requested too often", () => {
  const { server } = freshServer({ variables: { RATE_LIMIT_PAGES: "1/3600" } });
  beforeAll(async () => {
    await builtPages();
    expect((await sendRequest(server.url, "GET", "/sign-in")).status).toBe(200);
  }, 180_000);
  const open = (path: string, headers: Record<string, string>) =>
    sendRequest(server.url, "GET", path, { headers });

  it("is refused with a document that says when to try again, and leads back", async () => {
    const { status, text, headers } = await open("/sign-in?next=%2Fbilling", {
      accept: "text/html",
      "accept-language": "de",
    });
    expect([status, headers.get("content-type")]).toEqual([429, "text/html; charset=utf-8"]);
    expect(text).toContain("Zu viele Anfragen</h1>");
    expect(text).toContain(`In ${headers.get("retry-after")} s können Sie es erneut versuchen.`);
    expect(text).toMatch(/<form action="\/sign-in"><input type="hidden" name="next" value="\/billing">/);
    const [, stylesheet = "", nonce = ""] =
      /<link rel="stylesheet" href="([^"]+)" nonce="([^"]+)"/.exec(text) ?? [];
    expect((await fetch(new URL(stylesheet, server.url))).status).toBe(200);
    expect(headers.get("content-security-policy")).toContain(`'nonce-${nonce}'`);
  });

  it("is refused with a sentence where no document is accepted", async () => {
    const { status, text } = await open("/sign-in", { accept: "*/*" });
    expect([status, text]).toEqual([429, "Too many requests. Please wait a moment.\n"]);
  });

  it("says of its form that nothing was saved, with or without JavaScript", async () => {
    const signIn = findServerAction("signIn");
    const plain = await postForm(server.url, signIn, { email: "a@example.com" });
    expect(plain.status).toBe(429);
    expect(plain.text).toMatch(/Nothing was saved\. Reload this page in \d+ s to send your changes again\./);
    const scripted = await callAction(server.url, signIn, formBody(signIn, {}));
    // What Next.js passes on to scripts is of this type, without a charset.
    expect(scripted.headers.get("content-type")).toBe("text/plain");
    expect(scripted.status).toBe(429);
    expect(JSON.parse(scripted.text)).toEqual({
      code: "rate_limited",
      retryAfterSeconds: Number(scripted.headers.get("retry-after")),
    });
  });
});
