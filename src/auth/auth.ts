import type { Caller } from "../domain/caller.ts";
import type { AuthScope } from "./routes.ts";

/** What a request says about who sends it. */
export type Credentials = {
  /** A header's value, by its name in lower case, as Node joins it. */
  header(name: string): string | undefined;
  /** What limits count by when there is nobody: the client's address. */
  address: string;
};

export type Identified = {
  caller: Caller;
  /** To go out with the answer, each as a `Set-Cookie` of its own: a session that was prolonged. */
  setCookies: readonly string[];
};

export type Auth = {
  /**
   * Who calls: by API key when one is presented, else by the session cookie.
   * @throws Refusal `unauthorized`, the same for every key that does not hold; DatabaseUnavailable
   */
  identify(credentials: Credentials): Promise<Identified>;
  /** What a request below `/api/auth` is charged to, by the client's address; `null` for what costs nothing. */
  scopeOf(method: string, path: string): AuthScope | null;
  /**
   * Answers a request below `/api/auth`, which has been charged. Its path has no version in front.
   * @param address the client's, as we know it: it is kept with the session
   * @throws what reading the request's body throws, and nothing else
   */
  handle(request: Request, address: string): Promise<Response>;
  /** Deletes sessions and links that have expired, a thousand of each at most, and returns how many. @throws DatabaseUnavailable */
  forgetExpired(): Promise<number>;
  /** Resolves when nothing is being written that no answer waits for. */
  idle(): Promise<void>;
};
