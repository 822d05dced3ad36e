import { beforeAll, expect, it } from "vitest";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { cookieOf } from "../../support/people.ts";
import { totp } from "../../support/totp.ts";
import { serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

const PASSWORD = "correct horse battery";
const { test, server } = freshServer();
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
});

const post = (path: string, body: object, cookie = "") =>
  sendRequest(server.url, "POST", `/api/auth${path}`, { body, cookie });

/** Signs up and turns two-factor authentication on. */
async function withTwoFactor(email: string): Promise<string> {
  const signedUp = await post("/sign-up/email", { name: "Person", email, password: PASSWORD });
  const cookie = cookieOf(signedUp);
  const { totpURI } = (await post("/two-factor/enable", { password: PASSWORD }, cookie)).body;
  expect((await post("/two-factor/verify-totp", { code: totp(totpURI) }, cookie)).status).toBe(200);
  return signedUp.body.user.id;
}

const signIn = async (email: string) => (await post("/sign-in/email", { email, password: PASSWORD })).body;
const recorded = (id: string) =>
  test.rows("select actor_kind as by, action from audit_entry where target_id = $1 order by id offset 1", [
    id,
  ]);

it("lets somebody who has lost their second factor sign in with the password, and has them told", async () => {
  const email = "lost@example.com";
  const id = await withTwoFactor(email);
  const other = await withTwoFactor("other@example.com");
  expect(await signIn(email)).toMatchObject({ twoFactorRedirect: true });
  await test.rows("delete from account_notice");

  expect(await tollgate("users", "disable-two-factor", email)).toEqual({
    code: 0,
    stdout: `${email}: two-factor authentication is off now\n`,
    stderr: "",
  });
  expect(await signIn(email)).toMatchObject({ user: { email } });
  expect(await test.rows("select user_id from two_factor")).toEqual([{ user_id: other }]);
  expect(await recorded(id)).toEqual([{ by: "operator", action: "user.two_factor_disabled" }]);
  expect(await test.rows("select user_id, kind, send_after <= now() as due from account_notice")).toEqual([
    { user_id: id, kind: "two_factor_disabled", due: true },
  ]);

  // Having nothing to do is not an error, and nothing to tell of.
  expect(await tollgate.json("users", "disable-two-factor", ` ${email.toUpperCase()} `)).toEqual({
    id,
    disabled: false,
  });
  expect(await recorded(id)).toHaveLength(1);
  expect(await test.rows("select from account_notice")).toHaveLength(1);
});

it("fails for an unknown email address", async () => {
  expect(await tollgate("users", "disable-two-factor", "nobody@example.com")).toEqual({
    code: 1,
    stdout: "",
    stderr: "No such user\n",
  });
});
