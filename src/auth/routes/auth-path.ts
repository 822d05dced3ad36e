/** Where Better Auth is mounted. */
export const AUTH_PATH = "/api/auth";
