import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { eventually } from "../support/eventually.ts";
import { accounts, onDatabase, PASSWORD } from "./accounts.ts";

const body = (n: number) => ({ name: "Person", email: `person-${n}@example.com`, password: PASSWORD });

describe.each([true, false])(
  "accounts on the application's pool, with prepared statements: %s",
  (prepared) => {
    const context = accounts();

    it("sign up and in, also after the database has dropped every connection", async () => {
      const database = openDatabase({
        url: context.test.url,
        prepared,
        maxConnections: 3,
        answerTimeoutMs: 10_000,
      });
      const ownAccounts = onDatabase({ ...context.test, database }, context.mails, context.lines);
      const { cookie } = await ownAccounts.signedUp();
      // Prepared statements belong to a connection: the same query runs many times.
      for (let n = 0; n < 20; n += 1)
        expect((await ownAccounts.identify({ cookie })).caller.kind).toBe("session");

      const signUps = Array.from({ length: 9 }, (_, n) => ownAccounts.call("/sign-up/email", body(n)));
      await new Promise((resolve) => setTimeout(resolve, 40));
      await context.test.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where pid <> pg_backend_pid() and datname = current_database()`,
      );
      const statuses = (await Promise.all(signUps)).map(({ status }) => status);
      expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
      // A 503 leaves no half account: the same sign-up works now, or has worked.
      for (let n = 0; n < 9; n += 1) {
        expect([200, 409]).toContain((await ownAccounts.call("/sign-up/email", body(n))).status);
        expect((await ownAccounts.call("/sign-in/email", body(n))).status).toBe(200);
      }
      const openTransactions = () =>
        context.test.rows(
          "select pid from pg_stat_activity where datname = current_database() and state like 'idle in %'",
        );
      await eventually(openTransactions, []);
      await ownAccounts.auth.idle();
      await database.close();
    });
  },
);

describe("accounts whose code could not be loaded at first", () => {
  const context = accounts();

  it("identify people once it can be", async () => {
    const { cookie } = await context.signedUp();
    let isFailing = false;
    const database = {
      ...context.test.database,
      get pool() {
        if (isFailing) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
        return context.test.database.pool;
      },
    };
    const own = onDatabase({ ...context.test, database }, context.mails, context.lines);
    isFailing = true;
    await expect(own.identify({ cookie })).rejects.toThrow("too many open files");
    isFailing = false;
    expect((await own.identify({ cookie })).caller.kind).toBe("session");
  });
});
