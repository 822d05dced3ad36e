import { createHash, randomBytes } from "node:crypto";
import type { Database } from "../../store/database.ts";
import { violatedConstraint } from "../../store/database.ts";
import {
  applyEmailChange,
  confirmEmailChange,
  requestEmailChange,
  withdrawEmailChange,
} from "../../store/users/email-changes.ts";
import { findUser, findUserByEmail } from "../../store/users/users.ts";
import type { SendMail } from "../limited-mail.ts";
import { refusalResponse } from "./responses.ts";

export type EmailChangeDeps = { database: Database; sendMail: SendMail; appUrl: string };

const VALID_FOR_SECONDS = 60 * 60;

/**
 * Mails a link to the present address and one to the new address; the change is made when both have been
 * opened. The response is the same for an address that somebody else has, to which nothing is sent.
 */
export async function startEmailChange(
  { database, sendMail, appUrl }: EmailChangeDeps,
  userId: string,
  newEmail: string,
): Promise<Response> {
  const user = await findUser(database, userId);
  if (user === null) return refusalResponse({ reason: "unauthorized" });
  if (newEmail === user.email) return refusalResponse({ reason: "email_unchanged", field: "newEmail" });
  const [oldToken, newToken] = [newLinkToken(), newLinkToken()];
  await requestEmailChange(database, {
    userId,
    newEmail,
    oldToken: sha256(oldToken),
    newToken: sha256(newToken),
    validForSeconds: VALID_FOR_SECONDS,
  });
  const { email, locale } = user;
  const oldLink = linkTo(appUrl, oldToken);
  await sendMail(email, locale, { kind: "email_change_old", url: oldLink, newEmail });
  if ((await findUserByEmail(database, newEmail)) === null) {
    const newLink = linkTo(appUrl, newToken);
    await sendMail(newEmail, locale, { kind: "email_change_new", url: newLink });
  }
  return Response.json({ status: true });
}

/** `{ status: true, changed }`: `changed` is false as long as the other address has not confirmed. */
export async function finishEmailChange(
  { database, sendMail }: EmailChangeDeps,
  token: string,
  address: string,
): Promise<Response> {
  const confirmed = await confirmEmailChange(database, sha256(token));
  if (confirmed === null) {
    return refusalResponse({ reason: "link_expired" }, "INVALID_TOKEN");
  }
  if (confirmed.outcome === "pending") return Response.json({ status: true, changed: false });
  try {
    const applied = await applyEmailChange(database, confirmed.userId, address);
    const user = await findUser(database, confirmed.userId);
    if (user?.email !== confirmed.newEmail)
      return refusalResponse({ reason: "link_expired" }, "INVALID_TOKEN");
    // `null`: by the other link, in the same moment.
    if (applied !== null) {
      const { oldEmail, newEmail } = applied;
      await sendMail(oldEmail, user.locale, { kind: "email_changed", newEmail });
    }
    return Response.json({ status: true, changed: true });
  } catch (error) {
    if (violatedConstraint(error) !== "user_email_key") throw error;
    await withdrawEmailChange(database, confirmed.userId);
    return refusalResponse({ reason: "email_taken" }, "USER_ALREADY_EXISTS");
  }
}

function newLinkToken(): string {
  return randomBytes(32).toString("base64url");
}

function sha256(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function linkTo(appUrl: string, token: string): string {
  return `${appUrl}/confirm-email-change?token=${token}`;
}
