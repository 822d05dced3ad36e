import { z } from "zod";
import type { Person, ServiceKey } from "../domain/callers/caller.ts";
import type { Permission } from "../domain/callers/permission.ts";
import { invalidInput, whetherMissing } from "../domain/refusals/invalid-input.ts";
import { notFound, refuse } from "../domain/refusals/refusal.ts";
import { ExternalId } from "../domain/users/external-id.ts";
import { UserId } from "../domain/users/user-id.ts";

/** By our id or by another system's; resolves to our id, `null` without such a user. */
export type FindNamedUser = (user: { user: string } | { externalId: string }) => Promise<string | null>;

/** How a service key names the user that it acts for, beside an operation's own input. */
export const NAMED_USER = {
  user: UserId.optional().describe("For service keys: the id of the user to act for."),
  externalId: ExternalId.optional().describe("For service keys: that user's id in the other system instead."),
};

const Named = z.object(NAMED_USER);

/** An operation without a permission is refused to every service key. @throws Refusal */
export function assertPermission({ permissions }: ServiceKey, permission: Permission | undefined): void {
  if (permission === undefined) refuse({ reason: "forbidden" });
  if (!permissions.includes(permission)) refuse({ reason: "missing_permission", params: { permission } });
}

/**
 * The key as the user that the input names, and the input without that name.
 * @throws Refusal `invalid_input` unless exactly one name is given; `not_found`
 */
export async function onBehalf(
  key: ServiceKey,
  input: unknown,
  findNamedUser: FindNamedUser | undefined,
): Promise<{ caller: Person; input: unknown }> {
  const { user, externalId, ...rest } = (input ?? {}) as Record<string, unknown>;
  const userId = await namedUser({ user, externalId }, findNamedUser);
  const { keyId, address } = key;
  return { caller: { kind: "on-behalf", userId, role: "user", keyId, address }, input: rest };
}

/**
 * @param item of a list of inputs, such as `items.1`; `null`: the input is the only one
 * @throws Refusal as above
 */
export async function namedUser(
  input: { user?: unknown; externalId?: unknown },
  findNamedUser: FindNamedUser | undefined,
  item: string | null = null,
): Promise<string> {
  if (findNamedUser === undefined) throw new Error("a service key needs a directory of users");
  const parsed = Named.safeParse(input, { error: whetherMissing });
  if (!parsed.success) throw invalidInput(parsed.error);
  const { user, externalId } = parsed.data;
  const at = (name: string) => (item === null ? name : `${item}.${name}`);
  if (user !== undefined && externalId !== undefined)
    refuse({
      reason: "invalid_input",
      params: { problem: "excludes", other: "user" },
      field: at("externalId"),
    });
  const namedBy = user !== undefined ? { user } : externalId !== undefined ? { externalId } : null;
  if (namedBy === null)
    refuse({ reason: "invalid_input", params: { problem: "missing" }, field: at("user") });
  return (await findNamedUser(namedBy)) ?? notFound("user", item);
}
