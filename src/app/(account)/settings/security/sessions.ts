import { readAccount } from "../../../gate/read-account.ts";

export type Session = {
  id: string;
  token: string;
  createdAt: string;
  updatedAt: string;
  ipAddress: string | null;
  userAgent: string | null;
};

/** The user's sessions that have not expired. */
export async function listSessions(): Promise<Session[]> {
  return readAccount<Session[]>("/list-sessions");
}
