import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTransport } from "nodemailer";
import { composeReadable, message } from "./compose.ts";
import type { EmailMessage, MailOutcome } from "./email-message.ts";
import type { Log } from "./log.ts";
import { concernsThisMail, isInvalidAddress, type SmtpErrorDetails, smtpErrorDetails } from "./smtp-error.ts";

export type MailOptions = {
  /** `null`: mail is written to files below `dataDir`. */
  smtpUrl: string | null;
  /** e.g. `Tollgate <no-reply@example.com>` */
  from: string;
  dataDir: string;
  log: Log;
};

export type Mail = {
  /**
   * Does not wait: a response's time must not tell whether an account exists. What the mail server does not
   * accept for now is sent again later, from memory: a link is as good as a password, so it is stored nowhere.
   * Failures are logged.
   * @param onEnd called once, when it is no longer in memory
   */
  send(email: EmailMessage, onEnd?: (outcome: MailOutcome) => Promise<void>): void;
  /** Resolves when no mail is being sent; some may wait to be sent again. */
  idle(): Promise<void>;
  /**
   * Tries at once what waits, and waits for mail under way, five seconds at most, so that a slow mail server
   * does not hold up a shutdown.
   */
  close(): Promise<void>;
};

const CLOSE_TIMEOUT_MS = 5_000;
/** Servers that defer mail from strangers (greylisting) accept it after five minutes at most. Links last an hour. */
const RETRY_AFTER_SECONDS = [5, 30, 120, 600];
/** Strangers can cause mail: while the mail server is down, memory must not grow with it. */
const MAX_WAITING = 1_000;
/** While a server is silent, each mail takes the full timeout, and those behind it neither fail nor count as waiting. */
const MAX_SENDING = 1_000;

type Queued = { email: EmailMessage; onEnd: (outcome: MailOutcome) => Promise<void> };

type Deliver = (email: EmailMessage) => Promise<{ file?: string }>;

export function createMail(
  { smtpUrl, from, dataDir, log }: MailOptions,
  retryAfterSeconds: readonly number[] = RETRY_AFTER_SECONDS,
): Mail {
  const { deliver, close } =
    smtpUrl === null ? fileDelivery(join(dataDir, "mail"), from) : smtpDelivery(smtpUrl, from);
  const sending = new Set<Promise<void>>();
  /** Per queued mail, a function that retries it at once. */
  const waiting = new Set<() => void>();
  let isClosing = false;

  const start = (queued: Queued, failures: number) => {
    const task = trySend(queued, failures).finally(() => sending.delete(task));
    sending.add(task);
  };
  const trySend = async (queued: Queued, failures: number) => {
    const { email } = queued;
    const { subject } = email;
    try {
      log.info({ subject, ...(await deliver(email)) }, smtpUrl === null ? "mail written" : "mail sent");
      await reportEnd(queued, "done");
    } catch (thrown) {
      const error = smtpErrorDetails(thrown);
      const retryInSeconds = retryAfterSeconds[failures];
      if (smtpUrl === null) {
        log.error({ subject, ...error }, "mail not written: check DATA_DIR");
        await reportEnd(queued, "unsent");
      } else if (isInvalidAddress(error)) {
        log.error({ subject, ...error }, "mail not sent: its recipient's address is invalid");
        await reportEnd(queued, "done");
      } else if (isRejected(error)) {
        log.error({ subject, ...error }, "mail rejected by the mail server");
        await reportEnd(queued, concernsThisMail(error) ? "done" : "unsent");
      } else if (retryInSeconds === undefined || mayNotWait(error)) {
        log.error({ subject, ...error, attempts: failures + 1 }, "mail not sent: check SMTP_URL");
        await reportEnd(queued, "unsent");
      } else {
        log.warn({ subject, ...error, retryInSeconds }, "mail deferred: will retry");
        startLater(queued, failures + 1, retryInSeconds);
      }
    }
  };
  const mayNotWait = (error: SmtpErrorDetails) =>
    isPermanent(error) || isClosing || waiting.size >= MAX_WAITING;
  const reportEnd = ({ onEnd }: Queued, outcome: MailOutcome) =>
    onEnd(outcome).catch((err: unknown) => log.warn({ err }, "a mail that is done with may be sent again"));
  const startLater = (queued: Queued, failures: number, seconds: number) => {
    const startNow = () => {
      clearTimeout(timer);
      waiting.delete(startNow);
      start(queued, failures);
    };
    const timer = setTimeout(startNow, seconds * 1000).unref();
    waiting.add(startNow);
  };
  const idle = async () => {
    while (sending.size > 0) await Promise.all(sending);
  };

  return {
    send: (email, onEnd = async () => {}) => {
      const queued = { email, onEnd };
      if (sending.size < MAX_SENDING) return start(queued, 0);
      log.error({ subject: email.subject }, "mail not sent: too many others are being sent");
      void reportEnd(queued, "unsent");
    },
    idle,
    close: async () => {
      isClosing = true;
      for (const startNow of waiting) startNow();
      await Promise.race([idle(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
      if (sending.size > 0) log.error({ unsent: sending.size }, "stopped with mail unsent");
      close();
    },
  };
}

/** Whether the server has rejected it for good; it refuses a wrong password with such a status as well. */
function isRejected({ code, responseCode }: SmtpErrorDetails): boolean {
  return responseCode !== undefined && responseCode >= 500 && code !== "EAUTH";
}

/** Whether the server would not accept mail from us later either. */
function isPermanent({ responseCode = 0 }: SmtpErrorDetails): boolean {
  return responseCode >= 500;
}

const TIMEOUT_MS = 10_000;

function smtpDelivery(url: string, from: string): { deliver: Deliver; close(): void } {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    deliver: async (email) => {
      await transport.sendMail(message(from, email));
      return {};
    },
    close: () => transport.close(),
  };
}

function fileDelivery(folder: string, from: string): { deliver: Deliver; close(): void } {
  return {
    deliver: async (email) => {
      const text = await composeReadable(from, email);
      const time = new Date().toISOString().replaceAll(":", "-");
      const file = join(folder, `${time}-${randomBytes(4).toString("hex")}.eml`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Its link is as good as a password.
      await writeFile(file, text, { mode: 0o600, flag: "wx" });
      return { file };
    },
    close: () => {},
  };
}
