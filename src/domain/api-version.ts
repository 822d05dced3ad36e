import { z } from "zod";
import { parseDefinitions } from "./parse-definitions.ts";

const Day = z.iso.date("use an ISO date such as 2027-06-01");

const Definition = z
  .strictObject({
    deprecated: z.boolean(),
    /** The deprecation date, if known. Only the header's RFC 9745 form contains it. */
    deprecatedAt: Day.optional(),
    /** The announced removal date; removal is not automatic. */
    sunset: Day.optional(),
  })
  .refine(({ deprecated, deprecatedAt }) => deprecated || deprecatedAt === undefined, {
    error: "deprecatedAt is given, but the version is not deprecated",
  })
  // RFC 9745, section 4: a sunset must not be earlier than the deprecation.
  .refine(({ deprecatedAt, sunset }) => !deprecatedAt || !sunset || deprecatedAt <= sunset, {
    error: "sunset is earlier than deprecatedAt",
  });

const Versions = z
  .strictObject({
    current: z.string(),
    versions: z.record(z.string().regex(/^v(0|[1-9]\d{0,3})$/), Definition, {
      error: ({ code }) => (code === "invalid_key" ? "use v and a number, such as v1" : undefined),
    }),
  })
  .refine(({ current, versions }) => Object.hasOwn(versions, current), {
    path: ["current"],
    error: ({ input }) => `"${(input as { current: string }).current}" is not among the versions`,
  });

export type VersionDefinition = z.infer<typeof Definition>;

/** What has chosen the version of a request; `default`: the request names none. */
export type VersionChoice = "path" | "header" | "default";

export type VersionCatalog = {
  /** The version of clients that request none. */
  readonly current: string;
  /** Oldest first. */
  readonly supported: readonly string[];
  /** By name; only listed versions are supported. */
  readonly definitions: ReadonlyMap<string, VersionDefinition>;
};

/** Checks `versions.config.ts`. @throws Error naming the version and what is wrong with it. */
export function defineVersions(versions: z.input<typeof Versions>): VersionCatalog {
  const { current, versions: definitions } = parseDefinitions("versions.config.ts", Versions, versions);
  const supported = Object.keys(definitions).sort((a, b) => versionNumber(a) - versionNumber(b));
  return { current, supported, definitions: new Map(Object.entries(definitions)) };
}

/** The next higher version that exists. */
export function successorOf(version: string, { supported }: VersionCatalog): string | null {
  return supported.find((candidate) => versionNumber(candidate) > versionNumber(version)) ?? null;
}

/** The number in a name such as `v2`. */
export function versionNumber(name: string): number {
  return Number(name.slice(1));
}

/** The response of `GET /api/version`. */
export type VersionStatus = {
  current: string;
  supported: readonly string[];
  versions: Record<string, { deprecated: boolean; sunset?: string }>;
};

export function versionStatus({ current, supported, definitions }: VersionCatalog): VersionStatus {
  return {
    current,
    supported,
    versions: Object.fromEntries(
      [...definitions].map(([name, { deprecated, sunset }]) => [
        name,
        { deprecated, ...(sunset === undefined ? {} : { sunset }) },
      ]),
    ),
  };
}
