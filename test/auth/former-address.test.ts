import { beforeAll, describe, expect, it } from "vitest";
import { importUsers } from "../../src/import/import-users.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import {
  applyEmailChange,
  confirmEmailChange,
  requestEmailChange,
} from "../../src/store/users/email-changes.ts";
import { putExternalUser } from "../../src/store/users/external-users.ts";
import { accounts } from "./accounts.ts";
import { HOLDING_LIMITS, untilWaiting } from "./held-locks.ts";

const NEW_PASSWORD = "another good password";
const CLOSE_GATE = { name: "close_gate", text: "select pg_advisory_xact_lock(1)" };

// Whoever reads the mails to an address that somebody has given up must not get the account.
describe("a link to a new password", () => {
  const context = accounts();

  beforeAll(() =>
    context.test.rows(`create function wait_at_gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$`),
  );

  const waiting = (count: number) => untilWaiting(context.test, count);

  /** Runs `during` while whoever inserts into the table waits. */
  async function whileClosed(table: string, during: () => Promise<void>): Promise<void> {
    await context.test.rows(
      `create trigger gate before insert on ${table} for each row execute function wait_at_gate()`,
    );
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(CLOSE_GATE);
      await during();
    });
  }

  const mailsTo = (address: string) => context.mails.filter(({ to }) => to === address);

  /** Somebody whose change of the address both addresses have confirmed. */
  async function changing() {
    const person = await context.signedUp();
    const newEmail = `new-${person.email}`;
    const [oldToken, newToken] = [Buffer.from(person.id), Buffer.from(newEmail)];
    const change = { userId: person.id, newEmail, oldToken, newToken, validForSeconds: 60 };
    await requestEmailChange(context.test.database, change);
    for (const token of [oldToken, newToken]) await confirmEmailChange(context.test.database, token);
    return { ...person, newEmail };
  }

  const linksOf = ({ id }: { id: string }) =>
    context.test.rows("select id from verification where value = $1", [id]);

  it("is not sent to an address that is changed meanwhile, nor valid", async () => {
    const person = await changing();
    let requesting: Promise<Response> | undefined;
    await whileClosed("verification", async () => {
      requesting = context.call("/request-password-reset", { email: person.email });
      await waiting(1);
      expect(await applyEmailChange(context.test.database, person.id, "")).not.toBeNull();
    });
    expect((await requesting)?.status).toBe(200);
    await context.test.rows("drop trigger gate on verification");
    expect(await linksOf(person)).toEqual([]);
    expect(mailsTo(person.email)).toEqual([]);

    await context.call("/request-password-reset", { email: person.newEmail });
    expect(mailsTo(person.newEmail)).toHaveLength(1);
  });

  it("is not sent to an address that is just being changed, nor valid", async () => {
    const person = await changing();
    let requesting: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      expect(await applyEmailChange(transaction, person.id, "")).not.toBeNull();
      requesting = context.call("/request-password-reset", { email: person.email });
      await Promise.race([requesting, waiting(1)]);
      await transaction.commitAfter([]);
    });
    expect((await requesting)?.status).toBe(200);
    expect(await linksOf(person)).toEqual([]);
    expect(mailsTo(person.email)).toEqual([]);
  });

  const importing = async ({ externalId, email }: { externalId: string; email: string }) => {
    const source = {
      identity: [email],
      read: async () => ({ rows: [{ fields: { externalId, email } }], next: null }),
    };
    const intake = { database: context.test.database, leaseSeconds: 30 };
    const options = { dryRun: false, notify: false, progressed: () => {}, waiting: () => {} };
    return importUsers(intake, source, options);
  };
  const putting = ({ externalId, email }: { externalId: string; email: string }) => {
    const user = { newId: "unused", externalId, email, name: "Known" };
    return putExternalUser(context.test.database, user, { keyId: crypto.randomUUID(), address: "" });
  };

  it.each([
    ["a service key", putting, { email: "key@example.com" }],
    [
      "an import",
      importing,
      { updated: 0, unmatched: [{ reason: expect.stringContaining("keeps its address") }] },
    ],
  ] as const)(
    "leaves the address that it was sent to as it is, whatever %s says meanwhile",
    async (_, change, outcome) => {
      const externalId = change.name;
      const email = change === putting ? "key@example.com" : "import@example.com";
      await context.test.rows(
        `insert into "user" (id, external_id, name, email) values ($1, $1, 'Known', $2)`,
        [externalId, email],
      );
      await context.call("/request-password-reset", { email });
      const token = /reset-password\/([\w-]+)/.exec(mailsTo(email)[0]?.text ?? "")?.[1];
      let resetting: Promise<Response> | undefined;
      let changing: Promise<unknown> | undefined;
      await whileClosed("account", async () => {
        // Its link is used up by now, and its password not stored yet.
        resetting = context.call("/reset-password", { token, newPassword: NEW_PASSWORD });
        await waiting(1);
        changing = change({ externalId, email: `other-${email}` });
        await waiting(2);
      });
      await context.test.rows("drop trigger gate on account");
      expect((await resetting)?.status).toBe(200);
      expect(await changing).toMatchObject(outcome);
      expect((await context.call("/sign-in/email", { email, password: NEW_PASSWORD })).status).toBe(200);
    },
  );
});
