import type { PageAccounts } from "../../app/gate/page-request.ts";
import type { Auth } from "../../auth/auth.ts";
import type { ThrottledLog } from "../../observability/limit-repeats.ts";
import type { Dependencies } from "../../operations/dependencies.ts";

export type PagesOptions = {
  auth: Auth & PageAccounts;
  deps: Dependencies;
  clientAddress(socketAddress: string | undefined, forwardedFor: string | undefined): string;
  /** Origins whose pages may write with a user's cookie. */
  ownOrigins(): readonly string[];
  appUrl: string;
  /** Whether notifications are mailed, to users who have not turned them off. */
  mails: boolean;
  log: ThrottledLog;
};
