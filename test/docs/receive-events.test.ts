import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { createAdmin } from "../support/people.ts";
import { createServiceKey } from "../support/service-keys.ts";
import { PROCESS_VARIABLES, SECRETS, serverVariables } from "../support/variables.ts";
import { codeBlocksOf, PROJECT } from "./code-block.ts";
import { compilePrograms, linkClient } from "./programs.ts";

const BLOCKS = codeBlocksOf("docs/how-to/receive-events.md");
const [CREATE = "", STREAM = ""] = BLOCKS.flatMap(({ language, code }) => (language === "sh" ? [code] : []));
const PROGRAMS = BLOCKS.flatMap(({ language, code }) => (language === "ts" ? [code] : []));
const [PLAIN, WITH_CLIENT, POLL] = ["plain.ts", "with-client.ts", "poll.ts"] as const;

const OUTBOUND_ALLOW = "127.0.0.1";

const { test, server } = freshServer({ variables: { OUTBOUND_ALLOW } });
let folder: string;
let serviceKey: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-receiver-"));
  ({ key: serviceKey } = await createServiceKey(test));
  await linkClient(folder);
  for (const [index, name] of [PLAIN, WITH_CLIENT, POLL].entries())
    await writeFile(join(folder, name), `${PROGRAMS[index]}\nexport {};\n`);
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

const variables = () => ({
  ...PROCESS_VARIABLES,
  TOLLGATE_URL: server.url,
  SERVICE_KEY: serviceKey,
});

function start(command: string, args: string[], more: Record<string, string>) {
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    env: { ...variables(), ...more },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = { text: "" };
  child.stdout?.on("data", (chunk) => {
    output.text += chunk;
  });
  const stop = cleanedUp(async () => void child.kill("SIGKILL"));
  return { output, stop };
}

async function runShell(code: string): Promise<string> {
  const cli = `"${process.execPath}" "${join(PROJECT, "src/cli/tollgate.ts")}"`;
  const prelude = `npm() { shift 4; ${cli} "$@" --json; }`;
  const { stdout } = await promisify(execFile)("bash", ["-ec", `${prelude}\n${code}`], {
    env: { ...variables(), ...serverVariables(test.url), OUTBOUND_ALLOW },
  }).catch((error) => {
    throw new Error(error.stdout + error.stderr);
  });
  return stdout;
}

/** A user with this id elsewhere starts a subscription. */
async function startSubscription(externalId: string): Promise<void> {
  await test.rows(
    `insert into "user" (id, external_id, name, email) values ($1, $1, 'Ana', $1 || '@example.com')`,
    [externalId],
  );
  const delivery = fixtureDelivery("stripe", "customer.subscription.created", {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${externalId}`,
    subscriptionId: `sub_${externalId}`,
    customerId: `cus_${externalId}`,
    userId: externalId,
    planId: "pro",
    priceId: "price_pro_monthly",
    seats: 1,
    status: "active",
  });
  expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(200);
}

/** Sends the beginning of a request, and closes the connection once its body is awaited. */
async function breakOff(port: string): Promise<void> {
  const socket = connect(Number(port), "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n");
  await once(socket, "data");
  socket.destroy();
  await once(socket, "close");
}

it("its programs compile", async () => {
  expect(PROGRAMS).toHaveLength(3);
  expect(await compilePrograms(folder)).toBe("");
});

it.each([PLAIN, WITH_CLIENT])(
  "processes each event once, and refuses what is not signed or breaks off: %s",
  async (program) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const endpoint = JSON.parse(await runShell(CREATE.replace("https://shop.example.com/events", url)));
    const receiver = start(process.execPath, [program], {
      PORT: new URL(url).port,
      ENDPOINT_SECRET: endpoint.secret,
      INBOX: `${program}.db`,
    });
    const forge = () => fetch(url, { method: "POST", body: "{}" }).then(({ status }) => status);
    await eventually(() => forge().catch(() => null), 400);
    await breakOff(new URL(url).port);
    // The second one arrives after it has been noticed.
    expect([await forge(), await forge()]).toEqual([400, 400]);

    const externalId = `customer-${program.replace(".ts", "")}`;
    await startSubscription(externalId);
    await eventually(async () => receiver.output.text, `welcome ${externalId} pro\n`);

    /** A busy machine may have needed another one. */
    const accepted = async () => {
      const [row] = await test.rows<{ count: number }>(
        `select count(*)::int as count from outbound_attempt a join outbound_delivery d on d.id = a.delivery_id
         where d.endpoint_id = $1 and a.response_status = 204`,
        [endpoint.id],
      );
      return row?.count;
    };
    await eventually(accepted, 1);
    const [delivery] = await test.rows<{ id: string }>(
      "select id::text from outbound_delivery where endpoint_id = $1",
      [endpoint.id],
    );
    const { cookie } = await createAdmin(test);
    const replayed = await sendRequest(server.url, "POST", `/api/event-endpoints/${endpoint.id}/replay`, {
      cookie,
      body: { deliveryIds: [delivery?.id] },
    });
    expect(replayed.status).toBe(200);
    await eventually(accepted, 2);
    expect(receiver.output.text).toBe(`welcome ${externalId} pro\n`);
    await receiver.stop();
  },
);

it("does not start without its secret: with none, anybody could sign events", async () => {
  const PORT = String(await freePort());
  const env = { ...variables(), PORT, INBOX: "none.db" };
  const running = promisify(execFile)(process.execPath, [PLAIN], { cwd: folder, env, timeout: 100_000 });
  await expect(running).rejects.toThrow(/ENDPOINT_SECRET/);
});

it("polls from where it stopped", async () => {
  const poll = async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [POLL], { cwd: folder, env: variables() });
    return stdout;
  };
  await startSubscription("customer-polled");
  let read = "";
  await eventually(async () => {
    read += await poll();
    return read.includes("subscription.started");
  }, true);
  await eventually(poll, "");
  await startSubscription("customer-later");
  await eventually(async () => (await poll()).includes("subscription.started"), true);
});

it("streams what came after an event", async () => {
  await startSubscription("customer-streamed");
  const list = async () =>
    (
      await sendRequest(server.url, "GET", "/api/events?limit=100", {
        headers: { authorization: `Bearer ${serviceKey}` },
      })
    ).body.events as { id: string; type: string }[];
  await eventually(async () => (await list()).length > 1, true);
  const [first, second] = await list();
  const stream = start(
    "bash",
    ["-ec", `exec ${STREAM.replace("https://tollgate.example.com", server.url)}`],
    { LAST_EVENT_ID: first?.id as string },
  );
  await eventually(async () => /^id: ?(.*)$/m.exec(stream.output.text)?.[1], second?.id);
  await stream.stop();
});
