import type { TollgateEvent } from "./event.ts";
import { type FeedState, type FollowOptions, followEvents } from "./follow-events.ts";
import { type Moment, momentNow, msSince } from "./moment.ts";
import type { Connection } from "./options.ts";
import { readJson } from "./read-json.ts";
import { sendRequest } from "./send-request.ts";
import type { EntitlementCheck, Entitlements, UserRef } from "./shapes.ts";
import { TollgateError } from "./tollgate-error.ts";

export type EntitlementOptions = {
  /**
   * Whether changes are followed by the event stream. It is unless said otherwise, with a service key;
   * without `events:read` the server is asked again after `pollEverySeconds`.
   */
  followEvents?: boolean;
  /**
   * How old an answer may be while events are followed. 300 unless given: a change of `plans.config.ts` sends
   * none.
   */
  maxAgeSeconds?: number;
  /** How old it may be while they are not. 10 unless given. */
  pollEverySeconds?: number;
  /** How long an older answer is used when the server cannot be reached. 300 unless given; 0: not at all. */
  staleIfErrorSeconds?: number;
  /** Users that are kept; the one that was asked for longest ago goes first. 10,000 unless given. */
  maxUsers?: number;
};

type Entry = {
  entitlements: Entitlements;
  etag: string | null;
  fetchedAt: Moment;
  isStale: boolean;
};

/** `isOutdated`: something changed after it was sent, so that its answer is used once and asked for again. */
type PendingFetch = { answer: Promise<Entitlements>; isOutdated: boolean };

type Feed = Pick<FollowOptions, "timing">;

/**
 * How long events are not asked for after the key was refused them: it may be given the permission. No timer,
 * which would keep the program from ending.
 */
const REFUSED_FOR_MS = 60_000;

/** What users may do: asked once, then kept until it changes. */
export class EntitlementCache {
  readonly #connection: Connection;
  readonly #options: Required<EntitlementOptions>;
  readonly #feed: Feed;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, PendingFetch>();
  #state: FeedState | "off" = "off";
  #closing: AbortController | null = null;
  #refusedAt: Moment | null = null;
  /** When events were last followed: until then, answers that were kept were right. */
  #followedUntil: Moment | null = null;

  constructor(connection: Connection, options: EntitlementOptions = {}, feed: Feed = {}) {
    this.#connection = connection;
    this.#feed = feed;
    const isServiceKey = connection.headers.authorization?.startsWith("Bearer tgs_") === true;
    this.#options = {
      maxAgeSeconds: 300,
      pollEverySeconds: 10,
      staleIfErrorSeconds: 300,
      maxUsers: 10_000,
      ...options,
      followEvents: (options.followEvents ?? true) && isServiceKey,
    };
  }

  /** How changes are learnt of now; `off`: by asking again. */
  get state(): FeedState | "off" {
    return this.#state;
  }

  /** Everything that a user may do. What has been used of quotas is as of the last answer of the server. */
  async get(user?: UserRef): Promise<Entitlements> {
    this.#start();
    const key = keyOf(user);
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#isFresh(entry)) {
      this.#touch(key, entry);
      return entry.entitlements;
    }
    return (this.#pending.get(key) ?? this.#fetch(key, user)).answer;
  }

  /**
   * Whether a user may use a feature: flags and limits from what is kept, quotas by asking the server.
   * @param amount of a limit or a quota; 1 unless given
   * @throws TollgateError `not_found` for a feature of no plan
   */
  async allows(user: UserRef | undefined, feature: string, amount = 1): Promise<boolean> {
    const { features } = await this.get(user);
    const entitlement = features[feature];
    if (entitlement === undefined || entitlement.kind === "quota")
      return (await this.check(user, feature, amount)).allowed;
    return entitlement.kind === "flag" ? entitlement.value === true : amount <= Number(entitlement.value);
  }

  /** Asks the server, which also says why, and until when. Uses nothing up. */
  async check(user: UserRef | undefined, feature: string, amount = 1): Promise<EntitlementCheck> {
    const response = await sendRequest(this.#connection, "POST", "/entitlements/check", {
      body: { ...user, feature, amount },
      isRepeatable: true,
    });
    return readJson<EntitlementCheck>(response);
  }

  /** Asks again the next time: about this user, or about all. */
  invalidate(user?: UserRef): void {
    const keys = user === undefined ? [...this.#entries.keys(), ...this.#pending.keys()] : [keyOf(user)];
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.isStale = true;
      const pending = this.#pending.get(key);
      if (pending !== undefined) pending.isOutdated = true;
      this.#pending.delete(key);
    }
  }

  /** Stops following events; a program that keeps it open does not end by itself. */
  close(): void {
    this.#closing?.abort();
    this.#closing = null;
    this.#state = "off";
  }

  #isFresh({ isStale, fetchedAt, entitlements: { until } }: Entry): boolean {
    if (isStale || (until !== null && Date.parse(until) <= Date.now())) return false;
    const { maxAgeSeconds, pollEverySeconds } = this.#options;
    return msSince(fetchedAt) < (this.#isFollowing() ? maxAgeSeconds : pollEverySeconds) * 1000;
  }

  #isFollowing(): boolean {
    return this.#state === "streaming" || this.#state === "polling";
  }

  #fetch(key: string, user: UserRef | undefined): PendingFetch {
    const answer = this.#load(key, user, () => pending.isOutdated).finally(() => {
      if (this.#pending.get(key) === pending) this.#pending.delete(key);
    });
    const pending: PendingFetch = { answer, isOutdated: false };
    this.#pending.set(key, pending);
    return pending;
  }

  async #load(key: string, user: UserRef | undefined, isOutdated: () => boolean): Promise<Entitlements> {
    const entry = this.#entries.get(key);
    try {
      const response = await sendRequest(this.#connection, "GET", "/entitlements", {
        query: { ...user },
        headers: entry?.etag ? { "if-none-match": entry.etag } : {},
      });
      const isKnown = response.status === 304 && entry !== undefined;
      const entitlements = isKnown ? entry.entitlements : await readJson<Entitlements>(response);
      const etag = response.headers.get("etag");
      this.#touch(key, { entitlements, etag, fetchedAt: momentNow(), isStale: isOutdated() });
      return entitlements;
    } catch (error) {
      if (entry !== undefined && isOutage(error) && this.#isUsable(entry)) return entry.entitlements;
      if (error instanceof TollgateError && !isOutage(error)) this.#entries.delete(key);
      throw error;
    }
  }

  #isUsable({ fetchedAt, isStale, entitlements: { until } }: Entry): boolean {
    if (until !== null && Date.parse(until) <= Date.now()) return false;
    const { maxAgeSeconds, staleIfErrorSeconds } = this.#options;
    const ageMs = msSince(fetchedAt);
    const rightMsAgo = Math.max(this.#followedMsAgo(), ageMs - maxAgeSeconds * 1000);
    return (isStale ? ageMs : Math.min(ageMs, rightMsAgo)) < staleIfErrorSeconds * 1000;
  }

  #followedMsAgo(): number {
    if (this.#isFollowing()) return 0;
    return this.#followedUntil === null ? Number.POSITIVE_INFINITY : msSince(this.#followedUntil);
  }

  #touch(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#options.maxUsers && oldest !== undefined) this.#entries.delete(oldest);
  }

  #start(): void {
    if (!this.#options.followEvents || this.#closing !== null) return;
    if (this.#refusedAt !== null && msSince(this.#refusedAt) < REFUSED_FOR_MS) return;
    this.#closing = new AbortController();
    void this.#follow(this.#closing.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onState = (state: FeedState, isContinuous: boolean) => {
      if (signal.aborted) return;
      if (this.#isFollowing()) this.#followedUntil = momentNow();
      this.#state = state;
      if (!isContinuous) this.invalidate();
    };
    while (!signal.aborted) {
      try {
        for await (const event of followEvents(this.#connection, { ...this.#feed, signal, onState }))
          this.#apply(event);
      } catch (error) {
        if (signal.aborted) return;
        this.#state = "off";
        this.invalidate();
        // What was dropped is the past: the next stream begins now.
        if (error instanceof TollgateError && error.reason === "events_dropped") continue;
        this.#refusedAt = momentNow();
        this.#closing = null;
        return;
      }
    }
  }

  #apply({ type, data }: TollgateEvent): void {
    if (type !== "entitlements.changed" && type !== "user.deleted") return;
    const userId = "userId" in data ? data.userId : data.id;
    if (userId !== null) this.invalidate({ user: userId });
    if (data.externalId !== null) this.invalidate({ externalId: data.externalId });
  }
}

/** A name that is undefined is not sent: users that are told apart by the other one must not share an answer. */
function keyOf({ user, externalId }: { user?: string; externalId?: string } = {}): string {
  return JSON.stringify([user, externalId]);
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof TollgateError)) return false;
  const { status } = error;
  // Below 400: a proxy has answered with a page of its own.
  return status === null || status < 400 || status >= 500 || status === 429;
}
