import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { expect, it } from "vitest";
import { ADAPTERS } from "../../../src/providers/registry.ts";
import { loadFixture, signedDelivery } from "../../fixtures/fixture.ts";
import { builtPages } from "../../support/built-pages.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { deliverUntilAnswered, sendRequest } from "../../support/http.ts";
import { cookieOf } from "../../support/people.ts";
import { spawnServer } from "../../support/server-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GENEROUS_LIMITS, PROCESS_VARIABLES, SECRETS, serverVariables } from "../../support/variables.ts";

const MARKER = "x7marker7x";
const EMAIL = `${MARKER}@example.com`;

it("writes no recipient's address and no part of a payload to the log at info", {
  timeout: 120_000,
}, async () => {
  const test = await freshDatabase(1);
  const server = await spawnServer(test.url, {
    ...GENEROUS_LIMITS,
    SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    LOG_LEVEL: "info",
  });
  const logged = (text: string) => server.lines.filter((line) => line.includes(text)).length;
  const post = (path: string, body: unknown, cookie = "") =>
    sendRequest(server.url, "POST", path, { body, ...(cookie && { cookie }) });
  try {
    const password = `${MARKER} is a password`;
    const person = { name: MARKER, email: EMAIL, password };
    expect((await post("/api/auth/sign-up/email", person)).status).toBe(200);
    expect((await post("/api/auth/sign-in/email", { email: EMAIL, password: `${MARKER}!` })).status).toBe(
      401,
    );
    expect((await post("/api/auth/request-password-reset", { email: EMAIL })).status).toBe(200);
    const reset = { token: MARKER, newPassword: password };
    expect((await post("/api/auth/reset-password", reset)).status).toBe(400);

    const json = { "content-type": "application/json" };
    const unsigned = { rawBody: Buffer.from(`{"id":"${MARKER}","email":"${EMAIL}"}`), headers: json };
    expect((await deliverUntilAnswered(server.url, "provider-a", unsigned)).status).toBe(400);
    for (const rawBody of [
      `{"id": ${MARKER}}`,
      `["${MARKER}"]`,
      `{"id":"${MARKER}","type":{"${MARKER}":1}}`,
    ]) {
      const invalid = signed(rawBody);
      expect([rawBody, (await deliverUntilAnswered(server.url, "provider-a", invalid)).status]).toEqual([
        rawBody,
        400,
      ]);
    }
    expect((await deliverUntilAnswered(server.url, "provider-a", forUnknownUser())).status).toBe(500);
    expect((await deliverUntilAnswered(server.url, "provider-a", withUnreadableStatus())).status).toBe(500);

    for (const query of [
      { query: "query ($n: Int) { deliveries(first: $n) { items { id } } }", variables: { n: MARKER } },
      { query: `{ ${MARKER}(email: "${EMAIL}") }` },
    ]) {
      expect((await post("/api/graphql", query)).body.errors).toHaveLength(1);
    }
    expect((await post("/api/api-keys", `{"name": ${MARKER}`)).status).toBeGreaterThanOrEqual(400);
    expect(
      (await post("/api/trpc/user.update", { name: { [MARKER]: EMAIL } })).status,
    ).toBeGreaterThanOrEqual(400);

    await eventually(async () => logged('"mail deferred: will retry"') > 0, true);
    expect(logged('"delivery refused: signature"')).toBeGreaterThanOrEqual(1);
    expect(logged('"delivery refused: payload"')).toBeGreaterThanOrEqual(3);
    expect(logged('"delivery failed, to be retried')).toBeGreaterThanOrEqual(2);
    await server.end("SIGTERM");
    expect(server.lines.filter((line) => line.toLowerCase().includes(MARKER))).toEqual([]);
    expect(server.lines.filter((line) => line.includes("@example.com"))).toEqual([]);
  } finally {
    server.child.kill("SIGKILL");
    await test.drop();
  }
});

it("writes what a library prints as an entry of its own", { timeout: 120_000 }, async () => {
  await builtPages();
  const test = await freshDatabase(0);
  const server = await spawnServer(test.url);
  try {
    expect((await sendRequest(server.url, "GET", "/sign-in")).status).toBe(200);
    await server.end("SIGTERM");
    const entries = server.lines.map((line) => JSON.parse(line) as { msg: string });
    // Next.js prints how long its configuration took to load.
    expect(entries.map(({ msg }) => msg)).toContain("output of a library");
  } finally {
    server.child.kill("SIGKILL");
    await test.drop();
  }
});

it("writes some of a flood of forged deliveries to the log, and then their number", {
  timeout: 120_000,
}, async () => {
  const test = await freshDatabase(0);
  const server = await spawnServer(test.url, GENEROUS_LIMITS);
  try {
    const forged = { rawBody: Buffer.from("{}"), headers: { "stripe-signature": "t=1,v1=00" } };
    const deliveries = Array.from({ length: 200 }, () =>
      deliverUntilAnswered(server.url, "provider-a", forged),
    );
    expect(new Set((await Promise.all(deliveries)).map(({ status }) => status))).toEqual(new Set([400]));
    const message = "delivery refused: signature";
    const entries = () =>
      server.lines.map((line) => JSON.parse(line) as { msg: string; entry?: string; suppressed?: number });
    const written = () => entries().filter(({ msg }) => msg === message).length;
    const suppressed = () =>
      entries().reduce((sum, entry) => sum + (entry.entry === message ? (entry.suppressed ?? 0) : 0), 0);
    await eventually(async () => written() + suppressed(), 200);
    expect(written()).toBeLessThan(200);
  } finally {
    await server.end("SIGTERM");
    await test.drop();
  }
});

it("logs which variable is missing on a delivery to a slot without a secret", {
  timeout: 120_000,
}, async () => {
  const test = await freshDatabase(0);
  const server = await spawnServer(test.url, { ...GENEROUS_LIMITS, PROVIDER_B_WEBHOOK_SECRET: "" });
  try {
    const delivery = { rawBody: Buffer.from("{}"), headers: { "paddle-signature": "ts=1;h1=00" } };
    expect((await deliverUntilAnswered(server.url, "provider-b", delivery)).status).toBe(400);
    const refused = () =>
      server.lines
        .map((line) => JSON.parse(line) as { level: number; slot?: string; msg: string })
        .filter(({ msg }) => msg.startsWith("delivery refused"))
        .map(({ level, slot, msg }) => ({ level, slot, msg }));
    await eventually(
      async () => refused(),
      [
        {
          level: 50,
          slot: "provider-b",
          msg: "delivery refused: PROVIDER_B_WEBHOOK_SECRET is not set",
        },
      ],
    );
  } finally {
    await server.end("SIGTERM");
    await test.drop();
  }
});

it("writes some of the requests to the log that fail while the database is away", {
  timeout: 120_000,
}, async () => {
  const test = await freshDatabase(0);
  const server = await spawnServer(test.url, GENEROUS_LIMITS);
  const person = { name: "Ana", email: "ana@example.com", password: "a long password" };
  const signedUp = await sendRequest(server.url, "POST", "/api/auth/sign-up/email", { body: person });
  const cookie = cookieOf(signedUp);
  await test.drop();
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  const keys = numbers.map((n) => `tg_${String(n).padStart(40, "0")}`);
  const statuses = async (sent: Promise<{ status: number }>[]) =>
    new Set((await Promise.all(sent)).map(({ status }) => status));
  const written = (text: string) => server.lines.filter((line) => line.includes(`"msg":"${text}"`)).length;
  for (const path of ["/api/users/me", "/api/trpc/user.me", "/api/graphql?query={__typename}"])
    expect(await statuses(keys.map((key) => sendRequest(server.url, "GET", path, { key })))).toEqual(
      new Set([503]),
    );
  const signIn = (n: number) =>
    sendRequest(server.url, "POST", "/api/auth/sign-in/email", {
      body: { email: `${n}@example.com`, password: "a long password" },
    });
  expect(await statuses(numbers.map(signIn))).toEqual(new Set([503]));
  for (const [path, status] of [
    ["/dashboard", 503],
    ["/", 200],
  ] as const)
    expect(await statuses(numbers.map(() => sendRequest(server.url, "GET", path, { cookie })))).toEqual(
      new Set([status]),
    );
  await server.end("SIGTERM");
  for (const message of ["page could not be loaded", "a page is shown as if nobody were signed in"]) {
    expect(written(message)).toBeGreaterThan(0);
    expect(written(message)).toBeLessThan(60);
  }
  expect(written("request failed")).toBeGreaterThan(0);
  expect(written("request failed")).toBeLessThan(180);
  expect(written("an auth request failed")).toBeGreaterThan(0);
  expect(written("an auth request failed")).toBeLessThan(60);
});

it.each<[string, () => StdioOptions, (child: ChildProcess) => void]>([
  ["its disk is full", () => ["ignore", openSync("/dev/full", "w"), openSync("/dev/full", "w")], () => {}],
  [
    "nobody reads it",
    () => ["ignore", "pipe", "pipe"],
    ({ stdout, stderr }) => {
      stdout?.destroy();
      stderr?.destroy();
    },
  ],
])(
  "serves, and stops when told to, although no log can be written: %s",
  {
    timeout: 120_000,
  },
  async (_, stdio, leave) => {
    const test = await freshDatabase(0);
    const url = `http://127.0.0.1:${await freePort()}`;
    const variables = { ...serverVariables(test.url), PORT: new URL(url).port, LOG_LEVEL: "info" };
    const child = spawn(process.execPath, ["src/server.ts"], {
      env: { ...PROCESS_VARIABLES, ...variables },
      stdio: stdio(),
    });
    const ended = once(child, "exit");
    try {
      leave(child);
      await eventually(() => readiness(url), 200);
      const forged = { rawBody: Buffer.from("{}"), headers: { "stripe-signature": "t=1,v1=00" } };
      for (let refused = 0; refused < 3; refused += 1) {
        expect((await deliverUntilAnswered(url, "provider-a", forged)).status).toBe(400);
      }
      expect(await readiness(url)).toBe(200);
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
      await test.drop();
    }
  },
);

it("goes on when its start cannot be printed", { timeout: 120_000 }, async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const variables = { DATA_DIR: await temporaryFolder(), PORT: new URL(url).port, SIMULATOR: "off" };
  const child = spawn(process.execPath, ["src/server.ts"], {
    env: { ...PROCESS_VARIABLES, ...variables },
    stdio: ["ignore", "ignore", openSync("/dev/full", "w")],
  });
  const kill = cleanedUp(async () => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const hasEnded = ended.then(() => 200);
  await eventually(() => Promise.race([readiness(url), hasEnded]), 200);
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  await kill();
});

/** `null`: no response. */
function readiness(url: string): Promise<number | null> {
  return fetch(`${url}/api/ready`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status,
    () => null,
  );
}

const signing = () => ({ secret: SECRETS["provider-a"], nowSeconds: Math.floor(Date.now() / 1000) });

function signed(text: string) {
  const rawBody = Buffer.from(text);
  const headers = ADAPTERS.of("stripe").sign(rawBody, { ...signing(), eventId: "-", eventType: "-" });
  return { rawBody, headers };
}

function forUnknownUser() {
  const { body } = loadFixture("stripe", "checkout.session.completed", { userId: "user_999" });
  return signedDelivery("stripe", withMarker(body), signing());
}

function withUnreadableStatus() {
  const { body } = loadFixture("stripe", "customer.subscription.created", { userId: "user_0" });
  const text = JSON.stringify(body).replace('"status":"active"', `"status":"${MARKER}"`);
  return signedDelivery("stripe", withMarker(JSON.parse(text)), signing());
}

/** In every text of the payload's that describes the customer. */
function withMarker(body: object): object {
  return JSON.parse(JSON.stringify(body), (field, value) =>
    /^(email|customer_email|name|description|receipt_email)$/.test(field) ? EMAIL : value,
  );
}
