import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTransport } from "nodemailer";
import { composeReadable, message } from "./compose.ts";
import type { EmailMessage } from "./email-message.ts";
import type { Log } from "./log.ts";
import { smtpErrorDetails } from "./smtp-error.ts";

export type MailOptions = {
  /** `null`: mail is written to files below `dataDir`. */
  smtpUrl: string | null;
  /** e.g. `Tollgate <no-reply@example.com>` */
  from: string;
  dataDir: string;
  log: Log;
};

export type Mail = {
  /** Does not wait: a response's time must not tell whether an account exists. Failures are logged. */
  send(email: EmailMessage): void;
  /** Resolves when no mail is being sent any more. */
  idle(): Promise<void>;
  /**
   * Waits for mail under way, five seconds at most, so that a slow mail server does not hold up a shutdown.
   */
  close(): Promise<void>;
};

const CLOSE_TIMEOUT_MS = 5_000;

type Deliver = (email: EmailMessage) => Promise<{ file?: string }>;

export function createMail({ smtpUrl, from, dataDir, log }: MailOptions): Mail {
  const { deliver, close } =
    smtpUrl === null ? fileDelivery(join(dataDir, "mail"), from) : smtpDelivery(smtpUrl, from);
  const pending = new Set<Promise<void>>();

  const trySend = async (email: EmailMessage) => {
    const { subject } = email;
    try {
      log.info({ subject, ...(await deliver(email)) }, smtpUrl === null ? "mail written" : "mail sent");
    } catch (error) {
      log.error(
        { subject, ...smtpErrorDetails(error) },
        `mail not sent: check ${smtpUrl === null ? "DATA_DIR" : "SMTP_URL"}`,
      );
    }
  };
  const idle = async () => {
    while (pending.size > 0) await Promise.all(pending);
  };

  return {
    send: (email) => {
      const task = trySend(email).finally(() => pending.delete(task));
      pending.add(task);
    },
    idle,
    close: async () => {
      await Promise.race([idle(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
      if (pending.size > 0) log.error({ unsent: pending.size }, "stopped with mail unsent");
      close();
    },
  };
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
