import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AUTH_ROUTES } from "../../src/auth/routes/route-list.ts";
import { OUTBOUND_EVENT_TYPES } from "../../src/domain/outbound/outbound-event.ts";
import { exampleData } from "../../src/outbound/example-data.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testApi } from "./unguarded-api.ts";

const NOW = new Date("2031-01-02T03:04:05Z");
const CONFIGURATION = fileURLToPath(new URL("../../redocly.yaml", import.meta.url));

/** What the document leaves out, and why. */
const UNDOCUMENTED = [
  // Middleware that every request passes.
  /^ALL \/\*$/,
  // All paths below: Better Auth's, which are compared with the routes below, and those of plugins, which
  // document themselves.
  /^ALL \/api\/(auth|plugins)\/\*$/,
  // Documented as POST: every other method returns 405.
  /^ALL \/api\/webhooks\/\{slot\}$/,
  // Surfaces with schemas of their own; ALL is their 405 for any other method.
  /^(ALL|GET|POST) \/api\/(trpc\/\*|graphql)$/,
  // The documentation page.
  /^GET \/api\/docs(\/|$)/,
  // For the operator's monitoring, whose format is not JSON.
  /^GET \/api\/metrics$/,
];

const { server } = freshServer({ variables: { METRICS_TOKEN: "only-for-tests-0123456789" } });

describe.each(["v1", "v2"])("the document of %s", (version) => {
  const document = async () => (await sendRequest(server.url, "GET", `/api/${version}/openapi.json`)).body;

  it("describes what event endpoints receive, in the shapes of the example events", async () => {
    const { webhooks, components } = await document();
    expect(Object.keys(webhooks)).toEqual(OUTBOUND_EVENT_TYPES);
    for (const type of OUTBOUND_EVENT_TYPES) {
      const { schema } = webhooks[type].post.requestBody.content["application/json"];
      const linked = JSON.stringify({ ...schema, $defs: components.schemas });
      const validator = z.fromJSONSchema(JSON.parse(linked.replaceAll("#/components/schemas/", "#/$defs/")));
      const event = { id: "evt_1", type, occurredAt: NOW, version: "v2", data: exampleData(type, NOW) };
      const sent = JSON.parse(JSON.stringify(event));
      expect([type, validator.safeParse(sent).error]).toEqual([type, undefined]);
      expect([type, validator.safeParse({ ...sent, data: {} }).success]).toEqual([type, false]);
    }
  });

  it("says of get-session that its limit is the user's", async () => {
    const text = JSON.stringify(await document());
    expect(text).toContain("Limited by `api` per user; without a session per client address.");
    expect(text).not.toContain("Limited by `api` per client");
  });

  it("has patterns that mean the same in every language, at most one per text", async () => {
    const text = JSON.stringify(await document());
    // Errors in some language, or in JavaScript without the flag `u`; of several patterns orval's zod makes no code that compiles.
    expect(text.match(/"pattern":"[^"]*(\\p\{|\\P\{|\\0|\\\/|\(\?[=!<])|"allOf"/g)).toBeNull();
  });

  it("passes Redocly's strict rules without an error or a warning", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "openapi.json"), JSON.stringify(await document()));
    expect(await lint(join(folder, "openapi.json"))).toMatchObject({
      totals: { errors: 0, warnings: 0 },
      problems: [],
    });
  });

  it("is public, describes its own version and is cacheable", async () => {
    const response = await sendRequest(server.url, "GET", `/api/${version}/openapi.json`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    expect(response.body).toMatchObject({
      openapi: "3.1.0",
      info: { version: version.slice(1) },
      servers: [{ url: expect.stringMatching(new RegExp(`^http://localhost:\\d+/api/${version}$`)) }],
    });
    const inHeader = await sendRequest(server.url, "GET", "/api/openapi.json", {
      headers: { "x-api-version": version },
    });
    expect(inHeader.body).toEqual(response.body);
    expect(inHeader.headers.get("vary")).toMatch(/X-API-Version/i);
  });

  it("describes every operation, parameter, header, response, tag and property", async () => {
    expect(undescribed(await document())).toEqual([]);
  });

  it("has no null in a query string, which clients would send as a word, and no tuple that ends with false", async () => {
    const { paths } = await document();
    const parameters = Object.values(paths as Described).flatMap((methods) =>
      Object.values(methods as Described).flatMap(
        ({ parameters = [] }) => parameters as { in: string; name: string; schema: object }[],
      ),
    );
    const inQuery = parameters.filter((parameter) => parameter.in === "query");
    expect(inQuery.filter(({ name }) => name === "cursor").length).toBeGreaterThan(5);
    expect(inQuery.filter(({ schema }) => JSON.stringify(schema).includes("null"))).toEqual([]);
    expect(JSON.stringify(paths)).not.toContain('"items":false');
  });

  it("is compressed where the client accepts it, and not sent again unchanged", async () => {
    const path = `/api/${version}/openapi.json`;
    const plain = await sendRequest(server.url, "GET", path);
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("vary")).toMatch(/Accept-Encoding/);
    const compressed = await fetch(`${server.url}${path}`, { headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(await compressed.json()).toEqual(plain.body);
    const etag = plain.headers.get("etag") as string;
    const revalidated = await sendRequest(server.url, "GET", path, { headers: { "if-none-match": etag } });
    expect([revalidated.status, revalidated.text]).toEqual([304, ""]);
  });

  it("lists exactly the routes of the app", async () => {
    const documented = Object.entries((await document()).paths as Record<string, object>).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} /api${path}`),
    );
    const registered = new Set(
      testApi()
        .app.routes.map(
          ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}").replace(/(?<=.)\/$/, "")}`,
        )
        .filter((route) => !UNDOCUMENTED.some((pattern) => pattern.test(route))),
    );
    registered.add("POST /api/webhooks/{slot}");
    for (const { method, path } of AUTH_ROUTES)
      registered.add(`${method} /api/auth${path.replace(":token", "{token}")}`);
    expect(documented.sort()).toEqual([...registered].sort());
  });
});

type Described = Record<string, Record<string, unknown>>;

/** Where a description is missing. @param document of OpenAPI */
function undescribed({ paths, webhooks, components, tags }: Record<string, Described>): string[] {
  const described: [string, unknown][] = [];
  for (const [path, methods] of Object.entries({ ...paths, ...webhooks })) {
    for (const [method, operation] of Object.entries(methods as Described)) {
      described.push([`${method} ${path}`, operation]);
      for (const parameter of (operation.parameters ?? []) as { name: string }[])
        described.push([`${method} ${path} ${parameter.name}`, parameter]);
      for (const [status, response] of Object.entries(operation.responses as Described))
        described.push([`${method} ${path} ${status}`, response]);
    }
  }
  for (const kind of Object.values(components as Described)) described.push(...Object.entries(kind));
  for (const tag of Object.values(tags as Described)) described.push([String(tag.name), tag]);
  for (const [path, value] of described) described.push(...propertiesIn(value, path));
  return described
    .filter(([, value]) => !("description" in (value as object) || "$ref" in (value as object)))
    .map(([path]) => path);
}

/** The properties of the schemas anywhere inside, without those of named values. */
function propertiesIn(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]): [string, unknown][] => {
    if (name === "properties" && "type" in value)
      return Object.entries(child).flatMap(([property, schema]): [string, unknown][] => [
        [`${path}.${property}`, schema],
        ...propertiesIn(schema, `${path}.${property}`),
      ]);
    return propertiesIn(child, `${path}.${name}`);
  });
}

describe("Redocly", () => {
  it("reports an invalid document", async () => {
    const folder = await temporaryFolder();
    const { body } = await sendRequest(server.url, "GET", "/api/openapi.json");
    delete body.paths["/plans"].get.responses["200"].description;
    await writeFile(join(folder, "openapi.json"), JSON.stringify(body));
    expect((await lint(join(folder, "openapi.json"))).totals.errors).toBe(1);
  });
});

/** In a process of its own, without network access. */
async function lint(file: string): Promise<{ totals: { errors: number }; problems: unknown[] }> {
  const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "lint", "--config", CONFIGURATION, "--format", "json", file],
    {
      env: {
        PATH: process.env.PATH,
        CI: "true",
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      },
    },
  ).catch((error: { stdout: string }) => error);
  return JSON.parse(stdout);
}

describe.each(["/api", "/api/v1", "/api/v2"])("the documentation page at %s/docs", (base) => {
  const get = (path: string) => sendRequest(server.url, "GET", path);

  it("has a content security policy against external resources", async () => {
    const page = await get(`${base}/docs`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    const policy = Object.fromEntries(
      (page.headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
        const [name = "", ...sources] = rule.split(" ");
        return [name, sources];
      }),
    );
    expect(policy["default-src"]).toEqual(["'none'"]);
    for (const sources of Object.values(policy)) {
      for (const source of sources)
        expect(["'none'", "'self'", "'unsafe-inline'", "data:"]).toContain(source);
    }
    expect(policy["script-src"]).toEqual(["'self'"]);
    expect(policy["connect-src"]).toEqual(["'self'"]);
    expect(policy["img-src"]).toEqual(["'self'", "data:"]);
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/);
  });

  it("links only to files that exist, with the right content types", async () => {
    const { text } = await get(`${base}/docs`);
    const urls = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url as string);
    expect(urls).toEqual([
      "docs/favicon-32x32.png",
      "docs/swagger-ui.css",
      "openapi.json",
      "docs/swagger-ui-bundle.js",
      "docs/start.js",
    ]);
    expect(text).not.toMatch(/https?:|\/\//);
    const types = {
      png: "image/png",
      css: "text/css; charset=utf-8",
      json: "application/json",
      js: "text/javascript; charset=utf-8",
    };
    for (const url of urls) {
      const response = await get(new URL(url, `http://localhost${base}/docs`).pathname);
      expect([url, response.status]).toEqual([url, 200]);
      expect(response.headers.get("content-type")).toBe(types[url.split(".").at(-1) as keyof typeof types]);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      if (url.endsWith(".css")) {
        // The style sheet embeds its resources.
        for (const [, target = ""] of response.text.matchAll(/url\(\s*["']?([^"')]*)/g))
          expect(target).toMatch(/^data:/);
        expect(response.text).not.toMatch(/@import/);
      }
      if (url.endsWith("start.js")) {
        expect(response.text).toContain('url: "openapi.json"');
        expect(response.text).toContain("validatorUrl: null");
        expect(response.text).not.toMatch(/https?:|\/\//);
      }
    }
  });
});
