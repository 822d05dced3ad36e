/** The parts of an error that may be logged: messages contain email addresses. */
export type SmtpErrorDetails = { code?: string; command?: string; responseCode?: number };

export function smtpErrorDetails(error: unknown): SmtpErrorDetails {
  const { code, originalCode, command, responseCode } = error as Record<string, unknown>;
  const systemCode = typeof originalCode === "string" ? originalCode : code;
  return {
    ...(typeof systemCode === "string" ? { code: systemCode } : {}),
    ...(typeof command === "string" ? { command } : {}),
    ...(typeof responseCode === "number" ? { responseCode } : {}),
  };
}

/** Refused by nodemailer itself: no server was asked. */
export function isInvalidAddress({ code, command }: SmtpErrorDetails): boolean {
  return code === "EENVELOPE" && command === "API";
}

/** Whether it concerns only this mail or its recipient. A refused greeting or sender affects all mail until the server is fixed. */
export function concernsThisMail({ command = "" }: SmtpErrorDetails): boolean {
  return /^(RCPT|DATA)/.test(command);
}
