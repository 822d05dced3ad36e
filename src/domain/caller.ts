export const ROLES = ["user", "admin"] as const;

export type Role = (typeof ROLES)[number];

/** Somebody with an account: signed in, or represented by an API key of theirs. */
export type Person =
  | {
      kind: "session";
      userId: string;
      role: Role;
      sessionId: string;
      address: string;
      /** An administrator who must set up a second factor before administering. */
      needsTwoFactor?: true;
    }
  | { kind: "api-key"; userId: string; role: Role; keyId: string; address: string };

/** Nobody we know: told apart by the address alone. */
type Nobody = { kind: "nobody"; address: string };

/** Whoever works on the machine itself: the command line and the jobs. */
export type Operator = { kind: "operator" };

/** Who asks for an operation. `address` is what limits count by, see `api/door/client-address.ts`. */
export type Caller = Person | Nobody | Operator;

export const OPERATOR: Operator = { kind: "operator" };

/** An API key never administers, whoever owns it. */
export function isAdministrator(caller: Caller): boolean {
  return (
    caller.kind === "operator" ||
    (caller.kind === "session" && caller.role === "admin" && !caller.needsTwoFactor)
  );
}
