import type { Config } from "../config/config.ts";
import { isUntrusted, TRUST_AUTHORITY } from "../domain/untrusted-certificate.ts";
import { openSmtpSession, type SmtpSession } from "../mail/smtp-session.ts";
import { broken, type Finding, good, skipped, warning } from "./finding.ts";

/** Connects to the mail server and logs in; nothing is sent. */
export async function checkMail({ mail, isProduction, databaseUrl }: Config): Promise<Finding> {
  if (mail.smtpUrl === null) {
    const detail = "SMTP_URL is not set: mail is written to files in DATA_DIR";
    return isProduction && databaseUrl !== null
      ? warning("mail", detail, "Set SMTP_URL: without it nobody can reset a password.")
      : skipped("mail", detail);
  }
  const session = await openSmtpSession(mail.smtpUrl);
  const { host } = new URL(mail.smtpUrl);
  if (!("error" in session)) {
    session.close();
    return connected(host, session.login);
  }
  const { code, responseCode } = session.error;
  const reason = responseCode === undefined ? (code ?? "no response") : `it returned ${responseCode}`;
  if (isUntrusted(session.error)) {
    const remedy = `Have the certificate renewed if it has expired, and connect by the name that it is for; if its authority is your own, ${TRUST_AUTHORITY}.`;
    return broken("mail", `${host} has a certificate that is not trusted: ${reason}`, remedy);
  }
  const isLogin = code === "EAUTH" || responseCode === 535 || responseCode === 530;
  return broken(
    "mail",
    isLogin ? `${host} refuses our login: ${reason}` : `${host} cannot be used: ${reason}`,
    isLogin
      ? "Check the user and the password in SMTP_URL; both must be percent-encoded."
      : "Check SMTP_URL: host, port, and smtps: for a server that expects TLS from the start.",
  );
}

function connected(host: string, login: SmtpSession["login"]): Finding {
  switch (login) {
    case "accepted":
      return good("mail", `${host} accepts our login`);
    case "not_configured":
      return good("mail", `${host} accepts our connection`);
    case "not_offered":
      return warning(
        "mail",
        `${host} offers no login`,
        "Check the port in SMTP_URL: most servers take logins at 587 (smtp:) and 465 (smtps:). Without one they may refuse our mails.",
      );
    default:
      return login satisfies never;
  }
}
