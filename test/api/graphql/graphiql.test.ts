import { expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../../support/browser.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser } from "../../support/people.ts";
import { graphqlApp } from "./graphql-app.ts";

const HTML = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

const { test, server } = freshServer({ users: 1 });

it("serves GraphiQL to browsers only, with its own content security policy", async () => {
  const page = await sendRequest(server.url, "GET", "/api/graphql", HTML);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toMatch(/^text\/html/);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'sha256-[\w+/=]+';/);
  expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);

  const response = await sendRequest(server.url, "GET", "/api/graphql?query=%7B__typename%7D");
  expect(response.body).toEqual({ data: { __typename: "Query" } });
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

it("does not serve GraphiQL without introspection", async () => {
  const app = await graphqlApp(test.database, { introspection: false });
  const page = await sendRequest(app.url, "GET", "/api/graphql", HTML);
  expect(page.status).toBe(400);
  expect(page.text).not.toContain("<html");
  await app.close();
});

const missing = missingBrowser();

it.skipIf(missing !== null)(
  `runs GraphiQL in a browser as the signed-in user, loading nothing from other hosts${missing ? ` (${missing})` : ""}`,
  async () => {
    const person = await createUser(test, "Somebody In GraphiQL");
    const browser = await startBrowser();
    const page = await browser.newPage();
    const [name = "", value = ""] = person.cookie.split("; ")[0]?.split(/=(.*)/) ?? [];
    await page.context().addCookies([{ name, value, url: server.url }]);
    const requested: string[] = [];
    const problems: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    page.on("console", (message) => {
      if (/Content.Security.Policy|Refused to/i.test(message.text())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));

    await page.goto(`${server.url}/api/graphql?query=${encodeURIComponent("{ me { name } }")}`);
    await page.getByRole("button", { name: /execute query/i }).click();
    await page.getByText("Somebody In GraphiQL").waitFor();
    expect(problems).toEqual([]);
    const outside = requested.filter((url) => !url.startsWith(server.url) && !/^(blob|data):/.test(url));
    expect(outside).toEqual([]);
    await browser.close();
  },
);
