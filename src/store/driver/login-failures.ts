import { INVALID_AUTHORIZATION, INVALID_PASSWORD } from "./sql-states.ts";

/** Waiting does not help. */
export class PasswordRequired extends Error {
  override name = "PasswordRequired";

  constructor(cause: Error) {
    super("PostgreSQL asks for a password, and none is given", { cause });
  }
}

/**
 * The driver's own words, `SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string`, name no cause; for
 * other methods it sends an empty password, or that of "null", which PostgreSQL calls wrong.
 */
export function explainLoginFailure<Failure extends Error | null>(
  failure: Failure,
  { password }: { password?: unknown },
): Failure | PasswordRequired {
  if (failure === null) return failure;
  const isWrong = (failure as { code?: unknown }).code === INVALID_PASSWORD && !password;
  return isWrong || /^SASL: .*\bpassword must be\b/.test(failure.message)
    ? new PasswordRequired(failure)
    : failure;
}

/** Whether PostgreSQL may have refused a connection because it was not encrypted. No socket is. */
export function mayNeedEncryption(error: unknown): boolean {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown };
  if (code === INVALID_AUTHORIZATION) return /^(?!.*"\[local\]").*\bno encryption$/.test(String(message));
  return cause instanceof Error && cause !== error && mayNeedEncryption(cause);
}
