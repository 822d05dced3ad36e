import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { createUser, type TestUser } from "../../support/people.ts";
import {
  callAction,
  encodeArguments,
  type Fields,
  findServerAction,
  listServerActions,
  postForm,
  type ServerAction,
} from "../../support/server-action.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS } from "../../support/variables.ts";

const test = testDatabase();
let server: ServerProcess;
let person: TestUser;
beforeAll(async () => {
  await builtPages();
  server = await spawnServer(test.url, { ...GENEROUS_LIMITS, RATE_LIMIT_SETTINGS: "1000/3600" });
  person = await createUser(test);
}, 240_000);
afterAll(async () => {
  // A stranger's input must not be logged as an error.
  expect(server.lines.filter((line) => /"level":[56]0|⨯|unhandled/i.test(line))).toEqual([]);
  expect(await server.end("SIGTERM")).toEqual({ code: 0, signal: null });
});

const JSON_BODY = { "content-type": "text/plain;charset=UTF-8" };

const pageOf = ({ pages }: ServerAction) => (pages[0] as string).replace("[id]", "someone");

/** What a forged call must not change: the user's name and the remaining requests. */
async function profileAndRemaining(of: TestUser): Promise<{ name: string; calls: number }> {
  const { cookie } = of;
  const { body } = await sendRequest(server.url, "GET", "/api/users/me", { cookie });
  // Refused, as it changes nothing, and charged to the scope of the action.
  const { headers } = await sendRequest(server.url, "PATCH", "/api/users/me", { cookie, body: {} });
  return { name: body.name, calls: Number(headers.get("x-ratelimit-remaining")) };
}

/** Arguments that no page sends, as React encodes them, with the parts that they refer to. */
const FORGED: [string, string, Fields?][] = [
  ["none", "[]"],
  ["null", "[null,null]"],
  ["text", '["x","x"]'],
  ["a number", "[1,1]"],
  ["an object that looks like a form", '[{"get":"x"},{"get":{},"entries":[]}]'],
  ["a list", '[["name","x"],["name","x"]]'],
  ["undefined", '["$undefined","$undefined"]'],
  ["NaN and a large number", '["$NaN","$n99999999999999999999"]'],
  ["a date", '["$D2031-02-03T04:05:06.000Z","$D2031-02-03T04:05:06.000Z"]'],
  ["a date that is none", '["$Dnever","$Dnever"]'],
  ["a map", '["$Q1","$Q1"]', { 1: '[["name","x"]]' }],
  ["a set", '["$W1","$W1"]', { 1: '["x"]' }],
  ["a file", '["$B1","$B1"]', { 1: new File(["x"], "x.txt") }],
  ["bytes", '["$o1","$o1"]', { 1: new Blob(["x"]) }],
  ["what only its owner can look at", '["$T","$T"]'],
  ["no arguments but an object", '{"a":1}'],
  ["text instead of arguments", '"x"'],
  ["null instead of arguments", "null"],
  ["a prototype", '[{"__proto__":{"get":1}},{"constructor":{"prototype":{"get":1}}}]'],
  ["a form without fields", '["$K7","$K7"]'],
  ["a form's prototype", '["$K1:constructor","$K1:__proto__"]', { _1_name: "x" }],
  ["fields with names of prototypes", '["$K1","$K1"]', { _1___proto__: "x", _1_constructor: "x", _1_: "x" }],
  ["fields that are files", '["$K1","$K1"]', filled(() => new File(["x"], "x.txt"))],
  ["fields with controls", '["$K1","$K1"]', filled(() => "\u0000\u0007\ud800")],
  [
    "fields with whatever may be code",
    '["$K1","$K1"]',
    filled(() => '\'; drop table "user"; --<script>{{7*7}}'),
  ],
];

function filled(value: () => string | Blob): Fields {
  const names = [
    "id",
    "userId",
    "name",
    "locale",
    "theme",
    "confirmation",
    "planId",
    "seats",
    "provider",
    "role",
  ];
  const more = ["expiresAt", "email", "password", "newPassword", "currentPassword", "token", "next", "force"];
  return Object.fromEntries([...names, ...more].map((name) => [`_1_${name}`, value()]));
}

describe.each(FORGED)("%s as the arguments", (_, root, parts = {}) => {
  it("are refused by every action", async () => {
    for (const action of listServerActions()) {
      // Uses its own session, as the action ends it.
      const { cookie } = action.name === "signOut" ? await createUser(test) : person;
      const body = new FormData();
      for (const [name, value] of Object.entries(parts)) body.append(name, value);
      body.append("0", root);
      const { status, returned, thrown, text } = await callAction(server.url, action, body, {
        cookie,
        path: pageOf(action),
      });
      const { code = null } = (returned ?? {}) as { code?: string };
      const outcome = { to: action.name, status, digest: thrown?.digest ?? null, code };
      // No payment provider is configured here, which returns 503.
      if (status === 503) expect(outcome).toMatchObject({ digest: "refusal:unavailable" });
      else
        expect(outcome).toEqual({ ...outcome, status: expect.toSatisfy((status: number) => status < 500) });
      if (thrown !== null && status !== 400) expect(outcome.digest).toMatch(/^refusal:/);
      expect(outcome).not.toMatchObject({ code: "defect" });
      expect(text).not.toMatch(/TypeError|node_modules|\.ts:/);
    }
    expect(await profileAndRemaining(person)).toMatchObject({ name: expect.not.stringMatching(/^$/) });
  });
});

describe("an action call that cannot be parsed", () => {
  const multipart = { "content-type": "multipart/form-data; boundary=xx" };
  it.each<[string, string, Record<string, string>]>([
    ["half of JSON", '["x', JSON_BODY],
    ["nothing", "", JSON_BODY],
    ["a reference to a missing part", '["$9"]', JSON_BODY],
    ["parts that contain each other", '["$1"]', JSON_BODY],
    ["another action as an argument", '["$h1"]', JSON_BODY],
    ["too many arguments", JSON.stringify(Array(2_000).fill(1)), JSON_BODY],
    ["deeply nested lists", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, JSON_BODY],
    ["half of a form", "--xx\r\nContent-Disposition: form-data; na", multipart],
    ["a form of another boundary", "--yy\r\n\r\nx\r\n--yy--\r\n", multipart],
    ["a form without a boundary", "x", { "content-type": "multipart/form-data" }],
    ["JSON that says that it is JSON", "{}", { "content-type": "application/json" }],
    ["a form as addresses have it", "name=x", { "content-type": "application/x-www-form-urlencoded" }],
    ["what is no type", "x", { "content-type": "x" }],
  ])("(%s) is rejected and changes nothing, with JavaScript or without", async (_, body, headers) => {
    const before = await profileAndRemaining(person);
    const { cookie } = person;
    const action = findServerAction("updateProfile");
    const { status, text } = await callAction(server.url, action, body, { cookie, headers });
    expect([400, 404]).toContain(status);
    expect(text).not.toMatch(/TypeError|node_modules|\.ts:/);
    const plain = await fetch(`${server.url}/settings`, {
      method: "POST",
      body,
      headers: { ...headers, cookie },
    });
    // A body that is not a form is no action call: the page is shown.
    expect([200, 400]).toContain(plain.status);
    const after = await profileAndRemaining(person);
    expect(after.name).toBe(before.name);
    expect(before.calls - after.calls).toBeLessThanOrEqual(2);
  });

  it.each(["toString", "__proto__", "constructor", "x", "", `40${"0".repeat(40)}`, "0".repeat(500)])(
    "(unknown action: %s) is rejected as unknown",
    async (id) => {
      const { cookie } = person;
      const body = encodeArguments([{ name: "Forged" }]);
      const response = await callAction(server.url, { id, pages: ["/settings"] }, body, { cookie });
      expect([400, 404, 409]).toContain(response.status);
      expect(response.text.length).toBeLessThan(100);
      const posted = await postForm(server.url, { id, pages: ["/settings"] }, { name: "Forged" }, { cookie });
      expect([400, 404, 409]).toContain(posted.status);
      expect((await profileAndRemaining(person)).name).not.toBe("Forged");
    },
  );

  it.each([
    ["half of JSON", "[nu"],
    ["a reference to a missing part", '["$7"]'],
    ["too much", JSON.stringify(Array(3_000).fill(1))],
    ["the form itself", '[null,{"get":"x"}]'],
    ["an action instead of the state", '[null,"$h2"]'],
    ["no action", '["updateProfile",null]'],
    ["a form action bound to itself", JSON.stringify(["$h2", null, "$h2"])],
  ])("(%s as bound arguments) is rejected, and changes nothing", async (_, bound) => {
    const { cookie } = person;
    const action = findServerAction("updateProfile");
    const response = await postForm(server.url, action, { name: bound.slice(0, 9) }, { cookie, bound });
    expect([200, 400]).toContain(response.status);
    expect((await profileAndRemaining(person)).name).not.toBe(bound.slice(0, 9));
  });
});

describe("an action's body of more than 64 KB", () => {
  const large = "x".repeat(70_000);

  it("returns 413 before it is read", async () => {
    const before = await profileAndRemaining(person);
    const { cookie } = person;
    const posted = await postForm(server.url, findServerAction("updateProfile"), { name: large }, { cookie });
    expect(posted.status).toBe(413);
    for (const body of [encodeArguments([{ name: large }]), JSON.stringify([large])]) {
      const { status } = await callAction(server.url, findServerAction("updateProfile"), body, { cookie });
      expect(status).toBe(413);
    }
    expect(await profileAndRemaining(person)).toEqual({ ...before, calls: before.calls - 1 });
  });

  it("is rejected without a Content-Length", async () => {
    const before = await profileAndRemaining(person);
    const response = await fetch(`${server.url}/settings`, {
      method: "POST",
      body: chunked(),
      duplex: "half",
      headers: { ...JSON_BODY, cookie: person.cookie, "next-action": findServerAction("updateProfile").id },
    } as unknown as RequestInit).catch((error: Error) => error);
    if (response instanceof Response) expect([400, 413]).toContain(response.status);
    expect(await profileAndRemaining(person)).toEqual({ ...before, calls: before.calls - 1 });
  });

  async function* chunked() {
    for (let n = 0; n < 200; n += 1) yield new TextEncoder().encode("x".repeat(10_000));
  }

  it("is not exceeded by a form of 60 KB, which is validated", async () => {
    const body = encodeArguments([{ name: "x".repeat(60_000) }]);
    const { status, thrown } = await callAction(server.url, findServerAction("updateProfile"), body, person);
    expect([status, thrown]).toEqual([400, { digest: "refusal:invalid_input" }]);
  });
});

describe("an action that is sent to another page", () => {
  it.each(["/billing", "/", "/sign-in", "/nothing/here", "/admin/users", "/settings/"])(
    "(%s) runs once at most, and is charged",
    async (path) => {
      const { cookie } = person;
      const before = await profileAndRemaining(person);
      const action = findServerAction("updateProfile");
      await callAction(server.url, action, encodeArguments([{ name: `At ${path}` }]), { cookie, path });
      const after = await profileAndRemaining(person);
      const isDone = after.name === `At ${path}`;
      expect(before.calls - after.calls).toBe(isDone ? 2 : 1);
    },
  );

  it.each(["/settings", "/", "/api-keys"])("(%s) keeps its access rule", async (path) => {
    const fields = { userId: person.id, role: "admin" };
    const { cookie } = person;
    for (const headers of [{}, { "x-action-forwarded": "1" }] as Record<string, string>[]) {
      const action = findServerAction("changeUserRole");
      const { text } = await callAction(server.url, action, encodeArguments([fields]), {
        cookie,
        path,
        headers,
      });
      expect(text).not.toContain('"done":true');
    }
    const { body } = await sendRequest(server.url, "GET", "/api/users/me", { cookie });
    expect(body.role).toBe("user");
  });

  it("is not accepted below /api", async () => {
    const action = findServerAction("updateProfile");
    for (const path of ["/api", "/api/users/me", "/api/nothing"]) {
      const { cookie } = person;
      const { status } = await callAction(server.url, action, encodeArguments([{ name: "Forged" }]), {
        cookie,
        path,
      });
      expect([404, 405]).toContain(status);
    }
    expect((await profileAndRemaining(person)).name).not.toBe("Forged");
  });
});

it("returns 4xx for a URL that Next.js cannot parse", async () => {
  for (const headers of [
    { rsc: "1", "next-router-state-tree": "%7Bgarbage" },
    { rsc: "1", "next-router-state-tree": "x".repeat(5_000) },
    { rsc: "1", "next-router-state-tree": "[]", "next-router-prefetch": "7" },
  ] as Record<string, string>[]) {
    const response = await fetch(`${server.url}/`, { headers });
    expect(response.status).toBeLessThan(500);
  }
});
