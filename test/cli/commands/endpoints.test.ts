import { afterAll, beforeAll, expect, it } from "vitest";
import { type Receiver, startReceiver } from "../../outbound/receiver.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { tollgateIn } from "../tollgate.ts";

const test = testDatabase(0);
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

function commandLine() {
  return tollgateIn({ ...serverVariables(test.url), OUTBOUND_ALLOW: "127.0.0.1" });
}

it("creates, lists, tests and replays endpoints", async () => {
  const { json } = commandLine();
  const options = ["--types", "user.created,user.deleted", "--description", "Data warehouse"];
  const created = await json("endpoints", "create", receiver.url, ...options);
  expect(created).toMatchObject({
    url: receiver.url,
    types: ["user.created", "user.deleted"],
    enabled: true,
  });
  expect(created.secret).toMatch(/^whsec_/);
  expect(await json("endpoints", "list")).toMatchObject([{ id: created.id, description: "Data warehouse" }]);
  expect(await json("endpoints", "test", created.id)).toMatchObject({ delivered: true, responseStatus: 204 });
  expect(receiver.received).toMatchObject([{ event: { type: "user.created" } }]);
  expect(await json("endpoints", "replay", created.id)).toEqual({ replayed: 0 });
  expect(await json("endpoints", "deliveries", created.id)).toMatchObject([
    { eventType: "user.created", status: "delivered", attempts: [{ attempt: 1, responseStatus: 204 }] },
  ]);
  expect(await json("endpoints", "deliveries", created.id, "--status", "failed")).toEqual([]);
});

it("prints on stderr why a test event was not delivered, exit status 1", async () => {
  const refusing = await startReceiver((response) => void response.writeHead(500).end());
  const tollgate = commandLine();
  const { id } = await tollgate.json("endpoints", "create", refusing.url);
  const printed = await tollgate("endpoints", "test", id);
  await refusing.close();
  expect(printed).toEqual({
    code: 1,
    stdout: "not delivered\n",
    stderr: "the endpoint responded with 500\n",
  });
});

it("resends the deliveries it is given, and says of how many it could not, exit status 1", async () => {
  const tollgate = commandLine();
  const { id } = await tollgate.json("endpoints", "create", receiver.url);
  await test.rows(
    `insert into outbound_event (type, subject, data, position, id)
    values ('user.updated', 's', '{}', 1, 'evt_1')`,
  );
  const [delivery] = await test.rows<{ id: string }>(
    `insert into outbound_delivery (endpoint_id, event_id, event_type, position, subject, status, give_up_at)
    values ($1, 'evt_1', 'user.updated', 1, 's', 'failed', now()) returning id::text`,
    [id],
  );
  const failed = (delivery as { id: string }).id;
  expect(await tollgate("endpoints", "replay", id, failed, failed)).toEqual({
    code: 0,
    stdout: "1 delivery will be sent again\n",
    stderr: "",
  });
  // It is pending now.
  expect(await tollgate("endpoints", "replay", id, failed, "999999", "--json")).toEqual({
    code: 1,
    stdout: '{\n  "replayed": 0\n}\n',
    stderr:
      "2 of 2 will not be sent again: pending deliveries are already scheduled; tests, unknown ids and events that are no longer stored cannot be sent\n",
  });
});

it("pauses, resumes and changes an endpoint, and rotates its secret", async () => {
  const tollgate = commandLine();
  const { id, secret } = await tollgate.json("endpoints", "create", receiver.url);
  const update = (...options: string[]) => tollgate.json("endpoints", "update", id, ...options);
  expect(await update("--pause")).toMatchObject({ id, enabled: false, disabledAt: null });
  expect(await update("--resume", "--types", "user.deleted")).toMatchObject({
    enabled: true,
    types: ["user.deleted"],
  });
  const rotated = await update("--rotate-secret");
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(secret);
  expect((await tollgate("endpoints", "update", id, "--pause", "--resume")).code).toBe(2);
  expect(await update("--description", " Data warehouse ")).toMatchObject({ description: "Data warehouse" });
  expect(await update("--url", `${receiver.url}/moved`, "--description", " ")).toMatchObject({
    url: `${receiver.url}/moved`,
    description: null,
  });
  await test.rows("update event_endpoint set enabled = false, disabled_at = now() where id = $1", [id]);
  expect((await tollgate("endpoints", "list")).stdout).toContain("disabled: it failed for five days");
});

it("reports wrong usage for an address that is not allowed", async () => {
  const { code, stderr } = await commandLine()("endpoints", "create", "https://10.0.0.1/");
  expect(code).toBe(2);
  expect(stderr).toMatch(/public https URL, or one that OUTBOUND_ALLOW allows/);
});

it("names the argument or option that is refused as it is typed", async () => {
  const tollgate = commandLine();
  const { id } = await tollgate.json("endpoints", "create", receiver.url);
  const refused = async (...args: string[]) => (await tollgate("endpoints", ...args)).stderr.split(":")[0];
  expect(await refused("create", "nowhere")).toBe("url");
  expect(await refused("create", receiver.url, "--types", "user.born")).toBe("--types");
  expect(await refused("update", id, "--url", "nowhere")).toBe("--url");
  expect(await refused("replay", id, "the-first")).toBe("deliveries");
});
