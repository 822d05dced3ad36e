import { APIError } from "better-auth/api";

export function sessionEnded(): APIError {
  return new APIError("UNAUTHORIZED", { message: "The session has ended", code: "UNAUTHORIZED" });
}
