import type { PlanCatalog } from "../../domain/plans/plan.ts";
import type { SubscriptionStatus } from "../../domain/subscriptions/subscription-status.ts";
import type { Queryable, Statement } from "../database.ts";
import { type ListPosition, microsOf, timeOf } from "../list-position.ts";
import { byEntitlement, entitlementParameters } from "../subscriptions/subscription-list.ts";
import { USER_COLUMNS, type User } from "../users/users.ts";

export type DirectoryEntry = User & {
  /** When a session of theirs was last renewed; `null`: never. */
  lastSeenAt: Date | null;
  /** The subscription that has not ended; of several, the one that entitles to most. */
  subscription: { planId: string; status: SubscriptionStatus } | null;
};

const ENTRY = `${USER_COLUMNS},
  (select max(s.updated_at) from session s where s.user_id = "user".id) as "lastSeenAt",
  (select json_build_object('planId', s.plan_id, 'status', s.status)
    from subscription s where s.user_id = "user".id and s.status = any ($1::text[])
    order by ${byEntitlement(["$1", "$2", "$3"])} limit 1) as subscription`;

const NEWEST = {
  name: "newest_users",
  text: `
select ${ENTRY}, ${microsOf("created_at")} as "atMicros"
from "user"
where (created_at, id) < (${timeOf("$4::bigint")}, $5::text)
order by created_at desc, id desc limit $6::int`,
};

/** The year 9999. */
const BEHIND_ALL: ListPosition = { atMicros: "253370764800000000", id: "" };

/** All users, newest first, starting after a position. */
export async function newestUsers(
  database: Queryable,
  plans: Pick<PlanCatalog, "plans">,
  { after, limit }: { after: ListPosition | null; limit: number },
): Promise<(DirectoryEntry & { atMicros: string })[]> {
  const { atMicros, id } = after ?? BEHIND_ALL;
  return database.run(NEWEST, [...entitlementParameters(plans), atMicros, id, limit]);
}

/** The searched columns in display order: a user found by one is not repeated by the next. */
export const FOUND_BY = ["id", "address", "name", "lastName"] as const;
export type FoundBy = (typeof FOUND_BY)[number];

const NAME = "(fold_case(name) || chr(1) || id)";
const LAST_NAME = `(fold_case(substring(name from '[^ ]+$')) || chr(1) || id)`;
const HAS_ID = "id = $4::text";
const HAS_ADDRESS = "starts_with(email, fold_case($4::text))";
const HAS_NAME = "starts_with(fold_case(name), fold_case($4::text))";

const SEARCH: Record<FoundBy, Statement> = {
  id: {
    name: "user_of_id",
    text: `
select ${ENTRY}, id as place from "user" where ${HAS_ID} and $5::text = '' limit $6::int`,
  },
  address: beginningWith("users_by_address", "email", `not (${HAS_ID})`),
  name: beginningWith("users_by_name", NAME, `not (${HAS_ID} or ${HAS_ADDRESS})`),
  lastName: beginningWith(
    "users_by_last_name",
    LAST_NAME,
    `position(' ' in name) > 0 and not (${HAS_ID} or ${HAS_ADDRESS} or ${HAS_NAME})`,
  ),
};

/** Identical to its index: a byte-order range, which a generic plan can use too. */
function beginningWith(name: string, key: string, unless: string): Statement {
  return {
    name,
    text: `
select ${ENTRY}, ${key} as place from "user"
where ${key} ~>=~ fold_case($4::text) and ${key} ~<~ (fold_case($4::text) || chr(1114111)) and ${key} ~>~ $5::text and ${unless}
order by ${key} using ~<~ limit $6::int`,
  };
}

/**
 * Users with this id, or whose address, name or last name starts with the text, case-insensitively.
 * @param page.after a position among the users found `by` it
 */
export async function findUsers(
  database: Queryable,
  plans: Pick<PlanCatalog, "plans">,
  { text, by, after, limit }: { text: string; by: FoundBy; after: string; limit: number },
): Promise<(DirectoryEntry & { place: string })[]> {
  return database.run(SEARCH[by], [...entitlementParameters(plans), text, after, limit]);
}
