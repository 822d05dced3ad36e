import { INVALID_AUTHORIZATION } from "./sql-states.ts";

/** Waiting does not help. */
export class PasswordRequired extends Error {
  override name = "PasswordRequired";

  constructor(cause: Error) {
    super("PostgreSQL asks for a password, and none is given", { cause });
  }
}

/** The driver's own words, `SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string`, name no cause. */
export function explainLoginFailure<Failure extends Error | null>(
  failure: Failure,
): Failure | PasswordRequired {
  return failure !== null && /^SASL: .*\bpassword must be\b/.test(failure.message)
    ? new PasswordRequired(failure)
    : failure;
}

/** Whether PostgreSQL may have refused a connection because it was not encrypted. */
export function mayNeedEncryption(error: unknown): boolean {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  if (code === INVALID_AUTHORIZATION) return /\bno encryption$/.test(String(message));
  return cause instanceof Error && cause !== error && mayNeedEncryption(cause);
}
