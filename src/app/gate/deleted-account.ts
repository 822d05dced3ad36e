import { cookies } from "next/headers";
import { currentRequest } from "./request.ts";

const COOKIE = "tollgate-account-deleted";
const SHOWN_FOR_SECONDS = 300;

/** Lets this browser, and no other, see for a few minutes that the account has been deleted. */
export async function markAccountDeleted(): Promise<void> {
  const { appUrl } = await currentRequest();
  const jar = await cookies();
  jar.set(COOKIE, "1", {
    path: "/farewell",
    maxAge: SHOWN_FOR_SECONDS,
    httpOnly: true,
    sameSite: "lax",
    secure: appUrl.startsWith("https:"),
  });
}

export async function hasDeletedAccount(): Promise<boolean> {
  return (await cookies()).has(COOKIE);
}
