import { Readable } from "node:stream";
import { parseConnectionUrl } from "nodemailer/lib/shared";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Composed } from "./compose.ts";
import { concernsThisMail, isInvalidAddress, type SmtpErrorDetails, smtpErrorDetails } from "./smtp-error.ts";

/**
 * `accepted`: by the server. `rejected`: for good. `deferred`: for now. `unsent`: an error that concerns all
 * mail. `unknown`: the connection was lost when the server may have accepted the mail already.
 */
type MailResult =
  | { outcome: "accepted" }
  | { outcome: "rejected" | "deferred" | "unsent" | "unknown"; error: SmtpErrorDetails };

export type SmtpSession = {
  /** `not_offered`: the URL has a user, and the server asks for none over this connection. */
  login: "accepted" | "not_offered" | "not_configured";
  /** Never throws. After anything but `accepted` the session must not be used again. */
  send(mail: Composed): Promise<MailResult>;
  close(): void;
};

const SOCKET_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 15_000;
const SEND_TIMEOUT_MS = 20_000;

/**
 * A connection to the mail server, authenticated where it offers that. Not nodemailer's pool, which does not report
 * how far a mail had come when its connection was lost, and sends it again on another one.
 */
export async function openSmtpSession(smtpUrl: string): Promise<SmtpSession | { error: SmtpErrorDetails }> {
  const options = parseConnectionUrl(smtpUrl);
  const connection = new SMTPConnection({
    ...options,
    connectionTimeout: SOCKET_TIMEOUT_MS,
    greetingTimeout: SOCKET_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
  });
  // This error is emitted even when nothing waits for the connection any more.
  connection.on("error", () => {});
  try {
    await withTimeout(CONNECT_TIMEOUT_MS, connection, (done) =>
      connection.connect((error) => {
        if (error || !options.auth || !connection.allowsAuth) done(error);
        else connection.login(options.auth, done);
      }),
    );
  } catch (error) {
    connection.close();
    return { error: smtpErrorDetails(error) };
  }
  const login = !options.auth ? "not_configured" : connection.allowsAuth ? "accepted" : "not_offered";
  return { login, send: (mail) => sendMail(connection, mail), close: () => connection.quit() };
}

async function sendMail(connection: SMTPConnection, { envelope, raw }: Composed): Promise<MailResult> {
  // Read by nodemailer once the server has asked for the content.
  let hasStarted = false;
  const content = new Readable({
    read() {
      hasStarted = true;
      this.push(raw);
      this.push(null);
    },
  });
  try {
    await withTimeout(SEND_TIMEOUT_MS, connection, (done) => connection.send(envelope, content, done));
    return { outcome: "accepted" };
  } catch (thrown) {
    connection.close();
    const error = smtpErrorDetails(thrown);
    return { outcome: outcomeOf(error, hasStarted), error };
  }
}

function outcomeOf(error: SmtpErrorDetails, hasStarted: boolean): Exclude<MailResult["outcome"], "accepted"> {
  const { responseCode } = error;
  if (isInvalidAddress(error)) return "rejected";
  if (responseCode === undefined) return hasStarted ? "unknown" : "unsent";
  // RFC 5321, section 3.8: 421 announces that the server closes, whatever the command.
  if (responseCode === 421 || !concernsThisMail(error)) return "unsent";
  return responseCode >= 500 ? "rejected" : "deferred";
}

/** Also rejects as soon as the connection fails. */
function withTimeout(
  ms: number,
  connection: SMTPConnection,
  act: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => done(new Error("the mail server did not respond in time")), ms);
    const done = (error?: Error | null) => {
      clearTimeout(timer);
      connection.off("error", done);
      if (error) reject(error);
      else resolve();
    };
    connection.on("error", done);
    act(done);
  });
}
