import type { Permission } from "./permission.ts";

export const ROLES = ["user", "admin"] as const;

export type Role = (typeof ROLES)[number];

/** A user who is signed in. */
export type SignedIn = {
  kind: "session";
  userId: string;
  role: Role;
  sessionId: string;
  address: string;
  /** Whether an administrator must set up a second factor first. */
  needsTwoFactor?: true;
};

/** A user: signed in, or represented by an API key or a service key. */
export type Person =
  | SignedIn
  | { kind: "api-key"; userId: string; role: Role; keyId: string; address: string }
  | { kind: "on-behalf"; userId: string; role: "user"; keyId: string; address: string };

/** A key of another program. It acts for the users that it names, and becomes `on-behalf` in the gate. */
export type ServiceKey = {
  kind: "service";
  keyId: string;
  permissions: readonly Permission[];
  /** Everything that the key does is charged to it. */
  limit: { limit: number; windowSeconds: number };
  address: string;
};

/** An anonymous caller, identified by the address alone. */
type Anonymous = { kind: "anonymous"; address: string };

/** Whoever runs the server, by the command line. */
export type Operator = { kind: "operator" };

/** Who calls an operation. `address` is what limits count by, see `http/client-address.ts`. */
export type Caller = Person | ServiceKey | Anonymous | Operator;

export const OPERATOR: Operator = { kind: "operator" };

/** An API key never has administrator rights, whoever owns it. */
export function isAdministrator(caller: Caller): boolean {
  return (
    caller.kind === "operator" ||
    (caller.kind === "session" && caller.role === "admin" && !caller.needsTwoFactor)
  );
}
