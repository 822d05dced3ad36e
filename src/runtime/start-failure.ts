/** The system's error, with the variable that caused it. */
export function startFailure(error: NodeJS.ErrnoException): string {
  const { code, message, syscall } = error;
  if (error.name === "DatabaseUnavailable") return `DATABASE_URL: the database cannot be reached: ${message}`;
  if (code === "EADDRINUSE") return `PORT: ${message}, e.g. PORT=3080`;
  if (syscall === "listen" || code === "ENOTFOUND") return `HOST or PORT: ${message}, e.g. HOST=127.0.0.1`;
  if (code !== undefined && UNUSABLE_FOLDER.has(code)) return `DATA_DIR: ${message}`;
  return message;
}

const UNUSABLE_FOLDER = new Set(["EEXIST", "ENOTDIR", "EPERM", "EACCES", "EROFS", "ENOSPC"]);
