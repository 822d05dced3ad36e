import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { JOB_NAMES, JOB_SCHEDULES } from "../../../src/domain/job.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { addUsers } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { cookieOf } from "../../support/people.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";
import { describeBehindPgBouncer, type OldPostgres } from "../compatibility/debian-postgres.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
/** The commands of docs/how-to/deploy-serverless.md, run as they stand there: the build, and a job. */
const [BUILD = "", RUN_A_JOB = ""] = [
  ...readFileSync(join(PROJECT, "docs/how-to/deploy-serverless.md"), "utf8").matchAll(
    /^```sh\n([\s\S]*?)^```$/gm,
  ),
].map(([, block]) => (block as string).trim());
const CRON_SECRET = "only-for-tests-0123456789";
const APP_URL = "http://localhost:3000";
const ACCOUNT = { name: "Ada", email: "ada@example.com", password: "a long password of hers" };

// Next.js alone serves pages and API, from its output for serverless hosts in a folder of its own: a file
// that is not part of the output is missing there.
describeBehindPgBouncer("two instances on a serverless host, behind a pooler,", ({ start }) => {
  let postgres: OldPostgres;
  let folder: string;
  let instances: string[];
  let rows: (text: string) => Promise<Record<string, unknown>[]>;
  let cookie: string;
  beforeAll(async () => {
    await bash(BUILD);
    folder = await temporaryFolder();
    await cp(join(PROJECT, ".next-serverless/standalone"), folder, { recursive: true });
    postgres = await start();
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 2,
      answerTimeoutMs: 30_000,
    });
    cleanedUp(() => database.close());
    rows = (text) => database.run({ name: "look", text });
    instances = await Promise.all([startInstance(folder, postgres), startInstance(folder, postgres)]);
    await addUsers({ rows: (text, values = []) => database.run({ name: "seed", text }, values) }, 20);
    const signUp = await sendRequest(at(0), "POST", "/api/auth/sign-up/email", { body: ACCOUNT });
    expect(signUp.status).toBe(200);
    cookie = cookieOf(signUp);
  }, 600_000);
  afterAll(() => postgres?.stop());

  const at = (n: number) => instances[n] as string;
  const run = (instance: string, job: string, authorization = `Bearer ${CRON_SECRET}`) =>
    sendRequest(instance, "GET", `/api/cron/${job}`, { headers: { authorization } });

  it("apply an event once, and reject unsigned deliveries", async () => {
    const event = numberedEvent("serverless", 0);
    expect((await deliverWebhook(at(0), "provider-a", event)).body).toEqual({ received: true });
    const repeat = await deliverWebhook(at(1), "provider-a", event);
    expect([repeat.status, repeat.body]).toEqual([200, { received: true, duplicate: true }]);
    const forged = { ...event, rawBody: Buffer.concat([event.rawBody, Buffer.from(" ")]) };
    const refused = await deliverWebhook(at(0), "provider-a", forged);
    expect([refused.status, refused.body]).toEqual([400, { error: "Invalid signature" }]);
    const tooLarge = { ...event, rawBody: Buffer.alloc(1_048_577, " ") };
    expect((await deliverWebhook(at(0), "provider-a", tooLarge)).status).toBe(413);
  });

  it("serve REST in both versions, tRPC and GraphQL to a session of another instance", async () => {
    const first = await sendRequest(at(1), "GET", "/api/v1/subscriptions", { cookie });
    expect([first.status, first.body]).toEqual([200, { subscriptions: [], nextCursor: null }]);
    expect(first.headers.get("x-api-version")).toBe("v1");
    expect(Number(first.headers.get("x-ratelimit-remaining"))).toBeGreaterThan(0);
    expect((await sendRequest(at(0), "GET", "/api/v2/subscriptions", { cookie })).body.data).toEqual([]);
    const rpc = await sendRequest(at(0), "GET", "/api/trpc/user.me", { cookie });
    expect(rpc.body.result.data.json.email).toBe(ACCOUNT.email);
    const query = await sendRequest(at(0), "POST", "/api/graphql", {
      cookie,
      body: { query: "{ me { email } }" },
    });
    expect(query.body).toEqual({ data: { me: { email: ACCOUNT.email } } });
    expect((await sendRequest(at(0), "GET", "/api/users/me")).status).toBe(401);
    expect((await sendRequest(at(0), "GET", "/api/nowhere")).body).toEqual({ error: "Not found" });
    const crossOrigin = { cookie, headers: { origin: "https://elsewhere.example" }, body: { name: "Eve" } };
    expect((await sendRequest(at(0), "PATCH", "/api/users/me", crossOrigin)).status).toBe(403);
  });

  it("serve pages with a nonce, to their user only", async () => {
    const page = await sendRequest(at(0), "GET", "/settings", { cookie });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(ACCOUNT.email)]);
    const policy = page.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] as string;
    const scripts = page.text.match(/<script[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(3);
    expect(scripts.filter((script) => !script.includes(`nonce="${nonce}"`))).toEqual([]);
    expect(page.headers.get("x-ratelimit-limit")).toBe("100000");
    const stranger = await sendRequest(at(0), "GET", "/settings");
    expect([stranger.status, stranger.headers.get("location")]).toEqual([
      307,
      expect.stringContaining("/sign-in"),
    ]);
    const method = await sendRequest(at(0), "DELETE", "/settings", { cookie });
    expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  });

  it("run server actions, and refuse those of other sites", async () => {
    const form = new FormData();
    for (const [name, value] of hiddenFields((await sendRequest(at(0), "GET", "/sign-in")).text)) {
      form.append(name, value);
    }
    form.append("email", ACCOUNT.email);
    form.append("password", ACCOUNT.password);
    const send = (headers: Record<string, string>) =>
      fetch(`${at(0)}/sign-in`, { method: "POST", redirect: "manual", body: form, headers });
    expect((await send({ origin: "https://elsewhere.example" })).status).toBe(403);
    const signedIn = await send({});
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/onboarding"]);
    const onboarding = await sendRequest(at(1), "GET", "/onboarding", { cookie: cookieOf(signedIn) });
    expect([onboarding.status, onboarding.text]).toEqual([200, expect.stringContaining("<form")]);
  });

  it("run each job on request, one at a time over all instances", async () => {
    for (const job of JOB_NAMES) {
      const { status, body } = await run(at(0), job);
      expect([status, body]).toEqual([200, { job, outcome: expect.stringMatching(/^(ok|disabled)$/) }]);
    }
    await rows("update webhook_delivery set status = 'failed', next_attempt_at = clock_timestamp()");
    await rows(
      "insert into lease (name, token, held_until) values ('job:webhook-retry', gen_random_uuid(), now() + interval '1 minute')",
    );
    expect((await run(at(1), "webhook-retry")).body.outcome).toBe("already_running");
    expect(await rows("select status from webhook_delivery")).toEqual([{ status: "failed" }]);
    await rows("delete from lease");
    expect((await run(at(1), "webhook-retry")).body.outcome).toBe("ok");
    expect(await rows("select status from webhook_delivery")).toEqual([{ status: "successful" }]);
  });

  it("run a job by the command of the guide", async () => {
    const { stdout } = await bash(RUN_A_JOB, { CRON_SECRET, APP_URL: at(0) });
    expect(JSON.parse(stdout)).toEqual({ job: "webhook-retry", outcome: "ok" });
  });

  it("refuse a job without the secret", async () => {
    expect((await run(at(0), "retention", "Bearer another-secret-of-sixteen")).status).toBe(401);
    expect((await run(at(0), "backup")).status).toBe(404);
  });
});

function bash(command: string, variables: Record<string, string> = {}) {
  return promisify(execFile)("bash", ["-c", command], {
    cwd: PROJECT,
    env: { ...process.env, ...variables },
  });
}

/** @returns the URL at which it listens */
async function startInstance(folder: string, { pooledUrl }: OldPostgres): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, ["server.js"], {
    cwd: folder,
    env: {
      PATH: "/nonexistent",
      HOME: "/nonexistent",
      HOSTNAME: "127.0.0.1",
      ...serverVariables(pooledUrl),
      ...GENEROUS_LIMITS,
      PORT: String(port),
      DATABASE_PREPARED: "off",
      NODE_ENV: "production",
      APP_URL,
      TRUSTED_PROXIES: "1",
      CRON_SECRET,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  cleanedUp(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (line: Buffer) => lines.push(line));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/api/ready`).then(
      (response) => response.status,
      () => child.exitCode,
    );
  await eventually(isReady, 200, 120_000).catch((error) => {
    throw new Error(`${error.message}\n${Buffer.concat(lines)}`);
  });
  return url;
}

function hiddenFields(page: string): [string, string][] {
  const inputs = page.match(/<input type="hidden"[^>]*>/g) ?? [];
  const attribute = (input: string, name: string) =>
    (new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1] ?? "")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
  return inputs.map((input) => [attribute(input, "name"), attribute(input, "value")]);
}

it("schedules every job in the example for Vercel", async () => {
  const { crons } = JSON.parse(await readFile(join(PROJECT, "deploy/vercel/vercel.json"), "utf8"));
  const expected = Object.entries(JOB_SCHEDULES).map(([job, schedule]) => ({
    path: `/api/cron/${job}`,
    schedule,
  }));
  expect(crons).toEqual(expected);
});
