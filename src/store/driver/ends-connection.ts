import type pg from "pg";

/** Sent with the end of a session: connection lost, refused or not there, shutdown, out of time. */
const ENDING = /^(08(?!P01)|28|3D|53300|57P|25P0[34])/;

/**
 * Whether PostgreSQL has ended the connection with this error, or a pooler has, which uses various codes. The
 * severity is translated where `lc_messages` says so; the code never is.
 */
export function endsConnection(error: pg.DatabaseError): boolean {
  const { severity, code = "" } = error;
  if (severity === "ERROR") return false;
  return severity === "FATAL" || severity === "PANIC" || ENDING.test(code);
}
