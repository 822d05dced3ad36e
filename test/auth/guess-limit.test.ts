import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { accountKey, createGuessLimit, type GuessResult } from "../../src/auth/guess-limit.ts";
import { keyedHash } from "../../src/auth/keyed-hash.ts";
import {
  returnSignInAttempts,
  type TakenAttempt,
  takeSignInAttempt,
} from "../../src/store/sign-in/sign-in-failures.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { accounts, PASSWORD, SECRET } from "./accounts.ts";
import { HOLDING_LIMITS, untilWaiting } from "./held-locks.ts";

describe("sign-in limits", () => {
  const context = accounts();
  const signIn = (email: string, password: string, address: string) =>
    context.auth.handle(
      new Request("http://localhost:3000/api/auth/sign-in/email", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password }),
      }),
      address,
    );
  const addressNo = (n: number) => `2001:db8:7:${n.toString(16)}::/64`;
  const keyOf = (email: string) => accountKey(email, keyedHash(SECRET));
  const unknownEmail = () => `nobody-${randomBytes(4).toString("hex")}@example.com`;

  async function failTenTimes(email: string): Promise<void> {
    for (let n = 0; n < 10; n += 1) {
      expect((await signIn(email, "wrong password", addressNo(n))).status).toBe(401);
    }
  }

  /** The same without the time that hashing takes. */
  async function haveFailedTenTimes(email: string): Promise<void> {
    expect((await signIn(email, "wrong password", addressNo(1))).status).toBe(401);
    await context.test.rows("update sign_in_failure set failures = 10 where key = $1", [keyOf(email)]);
  }

  it("throttle an account after ten wrong passwords, from any client address", async () => {
    const { email } = await context.signedUp();
    await failTenTimes(email);
    const refused = await signIn(email, PASSWORD, "198.51.100.1");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(10);
  });

  it("respond alike for an unknown email address", async () => {
    const [knownEmail, newEmail] = [(await context.signedUp()).email, unknownEmail()];
    const answers = async (email: string) => {
      await haveFailedTenTimes(email);
      const refused = await signIn(email, PASSWORD, "198.51.100.2");
      return { status: refused.status, body: await refused.json() };
    };
    expect(await answers(knownEmail)).toEqual(await answers(newEmail));
  });

  it("delay the next attempt longer with each further failure", async () => {
    const { email } = await context.signedUp();
    await haveFailedTenTimes(email);
    const waitAfter = async () => {
      await context.test.rows("update sign_in_failure set last_at = last_at - interval '20 seconds'");
      expect((await signIn(email, "wrong password", "198.51.100.3")).status).toBe(401);
      return Number((await signIn(email, PASSWORD, "198.51.100.3")).headers.get("retry-after"));
    };
    expect(await waitAfter()).toBeGreaterThan(10);
    await context.test.rows("update sign_in_failure set last_at = last_at - interval '20 seconds'");
    expect((await signIn(email, PASSWORD, "198.51.100.3")).status).toBe(200);
    expect((await signIn(email, "wrong password", "198.51.100.3")).status).toBe(401);
  });

  it("do not lock out an account whose failures were counted while the database's clock was ahead", async () => {
    const { email } = await context.signedUp();
    await haveFailedTenTimes(email);
    await context.test.rows("update sign_in_failure set last_at = last_at + interval '3 hours'");
    expect((await signIn(email, PASSWORD, "198.51.100.4")).status).toBe(200);
  });

  it("do not lock out a signed-in user, who can still change the password", async () => {
    const { email, cookie } = await context.signedUp();
    await haveFailedTenTimes(email);
    expect((await context.identify({ cookie })).caller.kind).toBe("session");
    const body = { currentPassword: PASSWORD, newPassword: "another good password" };
    expect((await context.call("/change-password", body, { cookie })).status).toBe(200);
  });

  it("do not lock out whoever has just reset the password by mail", async () => {
    const { email } = await context.signedUp();
    await haveFailedTenTimes(email);
    await context.call("/request-password-reset", { email });
    const token = /reset-password\/([\w-]+)/.exec(context.mails.at(-1)?.text ?? "")?.[1];
    const newPassword = "another good password";
    expect((await context.call("/reset-password", { token, newPassword })).status).toBe(200);
    expect((await signIn(email, newPassword, "198.51.100.4")).status).toBe(200);
  });

  it("throttle a session's password changes after ten wrong passwords", async () => {
    const { cookie } = await context.signedUp();
    const change = () =>
      context.call("/change-password", { currentPassword: "wrong one", newPassword: PASSWORD }, { cookie });
    expect((await change()).status).toBe(400);
    await context.test.rows("update sign_in_failure set failures = 9 where key like 'session:%'");
    expect((await change()).status).toBe(400);
    expect((await change()).status).toBe(429);
  });

  it("throttle a client network after a hundred wrong passwords, over all accounts", async () => {
    const key = "network:203.0.113.0/24";
    await context.test.rows("insert into sign_in_failure (key, failures) values ($1, 99)", [key]);
    expect((await signIn(unknownEmail(), PASSWORD, "203.0.113.5")).status).toBe(401);
    expect((await signIn(unknownEmail(), PASSWORD, "203.0.113.6")).status).toBe(429);
    expect((await signIn(unknownEmail(), PASSWORD, "203.0.114.6")).status).toBe(401);
  });

  it("count the clients of a /48 together, and no others, where addresses are IPv6", async () => {
    const throttled = ["network:2001:db8:9::/48", "network:2001:db8:0::/48"];
    await context.test.rows("insert into sign_in_failure (key, failures) select unnest($1::text[]), 100", [
      throttled,
    ]);
    const statusFrom = async (address: string) => (await signIn(unknownEmail(), PASSWORD, address)).status;
    expect(await statusFrom("2001:db8:9:1::/64")).toBe(429);
    expect(await statusFrom("2001:db8::/64")).toBe(429);
    expect(await statusFrom("2001:db8:a:1::/64")).toBe(401);
  });

  it("count for a client network only wrong passwords, not who signs in with the right one", async () => {
    const { email } = await context.signedUp();
    const key = "network:203.0.115.0/24";
    await context.test.rows("insert into sign_in_failure (key, failures) values ($1, 99)", [key]);
    for (let n = 1; n <= 2; n += 1)
      expect((await signIn(email, PASSWORD, `203.0.115.${n}`)).status).toBe(200);
    const failures = await context.test.rows("select failures from sign_in_failure where key = $1", [key]);
    expect(failures).toEqual([{ failures: 99 }]);
  });

  it("count a client network's wait from the last wrong password, not from who has signed in since", async () => {
    const { email } = await context.signedUp();
    const key = "network:203.0.117.0/24";
    await context.test.rows(
      "insert into sign_in_failure (key, failures, last_at) values ($1, 200, clock_timestamp() - interval '6 minutes')",
      [key],
    );
    for (let n = 1; n <= 3; n += 1)
      expect((await signIn(email, PASSWORD, `203.0.117.${n}`)).status).toBe(200);
    expect((await signIn(email, "wrong password", "203.0.117.4")).status).toBe(401);
    expect((await signIn(email, PASSWORD, "203.0.117.5")).status).toBe(429);
  });

  it("keep the wait after a wrong guess that came meanwhile when an attempt turns out to be right", async () => {
    const network = "network:203.0.119.0/24";
    await context.test.rows(
      "insert into sign_in_failure (key, failures, last_at) values ($1, 100, clock_timestamp() - interval '1 minute')",
      [network],
    );
    const guesses = createGuessLimit(context.test.database, keyedHash(SECRET));
    const take = () =>
      guesses.take({ of: "account", email: unknownEmail(), address: "203.0.119.1" }) as Promise<{
        settle(result: GuessResult): Promise<void>;
      }>;
    const slow = await take();
    await context.test.rows(
      "update sign_in_failure set last_at = last_at - interval '1 minute' where key = $1",
      [network],
    );
    await (await take()).settle("wrong");
    await slow.settle("right");
    expect(await take()).toEqual({ waitSeconds: expect.any(Number) });
  });

  it("count a wrong guess also where an attempt that is taken back has waited for it", async () => {
    const { database } = context.test;
    const [key, policy] = ["network:203.0.120.0/24", { freeFailures: 10 }];
    await context.test.rows(
      `insert into sign_in_failure (key, failures, first_at, last_at)
       values ($1, 9, now() - interval '2 hours', now() - interval '2 hours')`,
      [key],
    );
    let other: ReturnType<typeof takeSignInAttempt> | undefined;
    await inTransaction(database, HOLDING_LIMITS, async (transaction) => {
      await takeSignInAttempt(transaction, key, policy);
      other = takeSignInAttempt(database, key, policy);
      await untilWaiting(context.test, 1);
      await transaction.commitAfter([]);
    });
    await returnSignInAttempts(database, [(await other) as TakenAttempt]);
    const counted =
      "select failures, last_at > now() - interval '1 hour' as recent from sign_in_failure where key = $1";
    expect(await context.test.rows(counted, [key])).toEqual([{ failures: 1, recent: true }]);
  });

  it("do not count against an account what a throttled network was not allowed to guess", async () => {
    const { email } = await context.signedUp();
    await context.test.rows("insert into sign_in_failure (key, failures) values ($1, 100)", [
      "network:203.0.116.0/24",
    ]);
    for (let n = 0; n < 11; n += 1) expect((await signIn(email, PASSWORD, "203.0.116.1")).status).toBe(429);
    expect((await signIn(email, PASSWORD, "198.51.100.5")).status).toBe(200);
  });

  it("make nobody wait for what a throttled network was not allowed to guess", async () => {
    const { email } = await context.signedUp();
    await haveFailedTenTimes(email);
    await context.test.rows("update sign_in_failure set last_at = last_at - interval '1 minute'");
    await context.test.rows("insert into sign_in_failure (key, failures) values ($1, 200)", [
      "network:203.0.118.0/24",
    ]);
    expect((await signIn(email, "wrong password", "203.0.118.1")).status).toBe(429);
    expect((await signIn(email, PASSWORD, "198.51.100.7")).status).toBe(200);
  });

  it("forget an account's failures once its password was right, but not after a request that failed otherwise", async () => {
    const { email } = await context.signedUp();
    expect((await signIn(email, "wrong password", addressNo(1))).status).toBe(401);
    const guesses = createGuessLimit(context.test.database, keyedHash(SECRET));
    const guess = await guesses.take({ of: "account", email, address: addressNo(2) });
    if ("settle" in guess) await guess.settle("unknown");
    const failures = () =>
      context.test.rows("select failures from sign_in_failure where key = $1", [keyOf(email)]);
    expect(await failures()).toEqual([{ failures: 1 }]);
    expect((await signIn(email, PASSWORD, addressNo(3))).status).toBe(200);
    expect(await failures()).toEqual([]);
  });

  it("forget failures after fifteen minutes", async () => {
    const email = unknownEmail();
    expect((await signIn(email, PASSWORD, addressNo(100))).status).toBe(401);
    await context.test.rows(
      "update sign_in_failure set failures = 9, first_at = first_at - interval '16 minutes' where key like 'account:%'",
    );
    for (let n = 0; n < 3; n += 1) expect((await signIn(email, PASSWORD, addressNo(n))).status).toBe(401);
    const counted = "select failures from sign_in_failure where key = $1";
    expect(await context.test.rows(counted, [keyOf(email)])).toEqual([{ failures: 3 }]);
  });

  it("wait five minutes at most, and forget a slow account after an hour", async () => {
    const { email } = await context.signedUp();
    await haveFailedTenTimes(email);
    await context.test.rows("update sign_in_failure set failures = 1000 where key = $1", [keyOf(email)]);
    const refused = await signIn(email, PASSWORD, "198.51.100.6");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(300);
    await context.test.rows("update sign_in_failure set last_at = last_at - interval '61 minutes'");
    for (let n = 0; n < 2; n += 1)
      expect((await signIn(email, "wrong password", "198.51.100.6")).status).toBe(401);
  });

  it("store no email address", async () => {
    const { email } = await context.signedUp();
    await signIn(email, "wrong password", addressNo(1));
    const rows = await context.test.rows<{ key: string }>("select key from sign_in_failure");
    expect(JSON.stringify(rows)).not.toContain(email.split("@")[0]);
  });

  it("send at most five mails to one recipient in 15 minutes, with the same response", async () => {
    const { email } = await context.signedUp();
    const before = context.mails.length;
    for (let n = 0; n < 8; n += 1) {
      const response = await context.call("/request-password-reset", { email });
      expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200 });
    }
    expect(context.mails.length - before).toBe(5);
    await context.test.rows(
      "update mail_recipient set sent_at = array(select t - interval '15 minutes' from unnest(sent_at) t)",
    );
    await context.call("/request-password-reset", { email });
    expect(context.mails.length - before).toBe(6);
  });
});
