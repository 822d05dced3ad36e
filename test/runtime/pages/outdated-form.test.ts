import { beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { createUser } from "../../support/people.ts";
import { findServerAction, formBody } from "../../support/server-action.ts";

/** Of an earlier build. */
const UNKNOWN_ID = `60${"0".repeat(40)}`;

describe("a form that the server no longer knows", () => {
  const { server, test } = freshServer();
  beforeAll(builtPages, 180_000);

  async function submitOutdated(
    headers: Record<string, string> = {},
    outdate: (body: FormData) => void = forgetEndpoint,
  ) {
    const { cookie } = await createUser(test);
    const body = formBody(findServerAction("updateProfile"), { name: "Changed" });
    outdate(body);
    const url = new URL("/settings?tab=1", server.url);
    const response = await fetch(url, { method: "POST", headers: { cookie, ...headers }, body });
    return { response, text: await response.text() };
  }

  it.each([
    ["the endpoint of forms", forgetEndpoint, 409],
    ["the form's own action", forgetAction, 400],
  ])("leads back to the page, and says that nothing was saved: %s", async (_, outdate, status) => {
    const { response, text } = await submitOutdated({}, outdate);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain("This page is out of date</h1>");
    expect(text).toContain("Nothing was saved. Open the page again and try again.");
    expect(text).toMatch(/<a [^>]*href="\/settings\?tab=1">Open the page<\/a>/);
    const stylesheet = /<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] ?? "";
    expect((await fetch(new URL(stylesheet, server.url))).headers.get("content-type")).toMatch(/^text\/css/);
  });

  it("says so in the language of the browser", async () => {
    const { text } = await submitOutdated({ "accept-language": "de" });
    expect(text).toContain("Diese Seite ist veraltet");
  });

  it("is refused for scripts as Next.js does it", async () => {
    const { response, text } = await submitOutdated({ "next-action": UNKNOWN_ID });
    expect([response.status, response.headers.get("x-nextjs-action-not-found")]).toEqual([409, "1"]);
    expect(text).toBe("Server Action unavailable.");
  });
});

function forgetEndpoint(body: FormData) {
  body.set("$ACTION_1:0", JSON.stringify({ id: UNKNOWN_ID, bound: "$@1" }));
}

function forgetAction(body: FormData) {
  body.set("$ACTION_1:2", JSON.stringify({ id: UNKNOWN_ID, bound: null }));
}
