import { Preferences as PreferencesView } from "../../../domain/users/preferences.ts";
import { listOfUsers, NEWEST_PER_USER } from "../../../operations/subscriptions/list-of-users.ts";
import type { showProfile } from "../../../operations/users/show-profile.ts";
import { UserView } from "../../../operations/users/user-view.ts";
import { builder, callOperation } from "../builder.ts";
import * as enums from "../enums.ts";
import type { OutputOf } from "./operation-output.ts";
import { Subscription } from "./subscription.ts";

const Preferences = builder.objectRef<OutputOf<typeof showProfile>["preferences"]>("Preferences").implement({
  description: "A user's preferences.",
  extensions: { view: PreferencesView },
  fields: (t) => ({
    theme: t.expose("theme", { type: enums.ThemeEnum }),
    emailNotifications: t.exposeBoolean("emailNotifications"),
  }),
});

export const PreferencesInput = builder.inputType("PreferencesInput", {
  description: "Preferences to change; omitted ones stay unchanged.",
  extensions: { view: PreferencesView },
  fields: (t) => ({ theme: t.field({ type: enums.ThemeEnum }), emailNotifications: t.boolean() }),
});

export const User = builder.objectRef<OutputOf<typeof showProfile>>("User").implement({
  extensions: { view: UserView },
  fields: (t) => ({
    id: t.exposeID("id"),
    name: t.exposeString("name"),
    email: t.exposeString("email"),
    emailVerified: t.exposeBoolean("emailVerified"),
    role: t.expose("role", { type: enums.RoleEnum }),
    locale: t.expose("locale", { type: enums.LocaleEnum }),
    preferences: t.expose("preferences", { type: Preferences }),
    onboarded: t.exposeBoolean("onboarded"),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    updatedAt: t.expose("updatedAt", { type: "DateTime" }),
    subscriptions: t.loadableList({
      type: Subscription,
      nullable: true,
      description: `The user's subscriptions, the newest ${NEWEST_PER_USER}; for a list of users, all are looked up together and counted as one call.`,
      extensions: { size: NEWEST_PER_USER },
      load: (userIds: string[], context) => callOperation(listOfUsers, context, { userIds }),
      // Not cached: a mutation of the same request may have changed it.
      loaderOptions: { maxBatchSize: 100, cache: false },
      resolve: (user) => user.id,
    }),
  }),
});
