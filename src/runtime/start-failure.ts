import { join, sep } from "node:path";
import { isUntrusted, TRUST_DATABASE_AUTHORITY } from "../domain/untrusted-certificate.ts";
import { mayNeedEncryption } from "../store/driver/login-failures.ts";
import { DUPLICATE_TABLE, INSUFFICIENT_PRIVILEGE, INVALID_SCHEMA_NAME } from "../store/driver/sql-states.ts";
import { isPreparedStatementError, PREPARED_STATEMENTS_REMEDY } from "../store/prepared-statements.ts";

/**
 * The system's or PostgreSQL's error, with the variable that caused it.
 * @param databaseVariable the one that says where the database is
 */
export function startFailure(
  error: NodeJS.ErrnoException,
  databaseVariable: "DATABASE_URL" | "DATA_DIR",
): string {
  const { code, message, syscall, path } = error;
  if (isPreparedStatementError(error))
    return `DATABASE_PREPARED: a pooler does not track prepared statements: ${message}. ${PREPARED_STATEMENTS_REMEDY}`;
  // What the database lacks is no mistake in the file.
  if (error.name === "MigrationFailed" && REMEDIES[codeOf(error.cause)] !== undefined)
    return startFailure(error.cause as NodeJS.ErrnoException, databaseVariable);
  // Only PostgreSQL's errors have a severity.
  if ("severity" in error) {
    const remedy = mayNeedEncryption(error) ? ENCRYPT_CONNECTION : REMEDIES[code ?? ""];
    return `${databaseVariable}: PostgreSQL refused: ${message}${remedy ? `: ${remedy}` : ""}, e.g. ${EXAMPLES[databaseVariable]}`;
  }
  if (error.name === "DatabaseUnavailable" && isUntrusted(error.cause)) {
    return `${databaseVariable}: PostgreSQL's certificate is not trusted: ${message}. ${TRUST_DATABASE_AUTHORITY}`;
  }
  if (error.name === "DatabaseUnavailable") {
    return `${databaseVariable}: the database cannot be reached: ${message}, e.g. ${EXAMPLES[databaseVariable]}`;
  }
  if (code === "EADDRINUSE") return `PORT: ${message}, e.g. PORT=3080`;
  if (syscall === "listen" || syscall === "getaddrinfo")
    return `HOST or PORT: ${message}, e.g. HOST=127.0.0.1`;
  if (code === "EACCES" && path?.startsWith(SOURCES))
    return `${message}: the user that the server runs as must be able to read the project`;
  if (code !== undefined && UNUSABLE_FOLDER.has(code))
    return `DATA_DIR: ${message}, e.g. ${EXAMPLES.DATA_DIR}`;
  return message;
}

const ENCRYPT_CONNECTION =
  "if it accepts only encrypted connections, set sslmode=verify-full in DATABASE_URL";

/** By the code of PostgreSQL's error. */
const REMEDIES: Readonly<Record<string, string>> = {
  [INSUFFICIENT_PRIVILEGE]: "the role must own the database",
  [INVALID_SCHEMA_NAME]: "the role's search_path must name a schema in which it may create tables",
  [DUPLICATE_TABLE]: "it has tables of another program, or of a restore that was interrupted",
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? "";
}

const SOURCES = join(import.meta.dirname, "..", sep);

const EXAMPLES = {
  DATABASE_URL: "DATABASE_URL=postgres://user:password@localhost:5432/tollgate",
  DATA_DIR: "DATA_DIR=/var/lib/tollgate",
};

const UNUSABLE_FOLDER = new Set(["EEXIST", "ENOTDIR", "EPERM", "EACCES", "EROFS", "ENOSPC"]);
