import { z } from "zod";
import { format } from "../../domain/invalid-input.ts";
import { createCheckout } from "../../operations/billing/create-checkout.ts";
import { openPortal } from "../../operations/billing/open-portal.ts";
import { listNotifications } from "../../operations/notifications/list-notifications.ts";
import { markAllRead } from "../../operations/notifications/mark-all-read.ts";
import { markRead } from "../../operations/notifications/mark-read.ts";
import { unreadCount } from "../../operations/notifications/unread-count.ts";
import { defineOperation } from "../../operations/operation.ts";
import { listFeatures } from "../../operations/plans/list-features.ts";
import { listPlans } from "../../operations/plans/list-plans.ts";
import { currentSubscription } from "../../operations/subscriptions/current-subscription.ts";
import { dismissSubscription } from "../../operations/subscriptions/dismiss-subscription.ts";
import { reconcileSubscription } from "../../operations/subscriptions/reconcile-subscription.ts";
import { changeRole } from "../../operations/users/change-role.ts";
import { completeOnboarding } from "../../operations/users/complete-onboarding.ts";
import { deleteAccount } from "../../operations/users/delete-account.ts";
import { deleteUser } from "../../operations/users/delete-user.ts";
import { listUsers } from "../../operations/users/list-users.ts";
import { setLocale } from "../../operations/users/set-locale.ts";
import { showProfile } from "../../operations/users/show-profile.ts";
import { updateProfile } from "../../operations/users/update-profile.ts";
import type { UserView } from "../../operations/users/user-view.ts";
import { listDeliveries } from "../../operations/webhooks/list-deliveries.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { adminProcedure, protectedProcedure, publicProcedure, router } from "./procedures.ts";

/** Here a name has to be given, and nothing else can be. */
const rename = { ...updateProfile, input: updateProfile.input.pick({ name: true }).required() };

/** Non-administrators cannot list users, only read themselves. */
const listAllUsers = { ...listUsers, access: "admin" } as const;

const markOneOrAllRead = defineOperation({
  ...markRead,
  input: z.strictObject({
    id: z.string().regex(/^(all|[1-9]\d{0,17})$/, format("number_id")),
  }),
  output: z.union([markRead.output, markAllRead.output]),
  run: async (deps: Parameters<typeof markRead.run>[0], caller, { id }) =>
    id === "all" ? markAllRead.run(deps, caller, {}) : markRead.run(deps, caller, { id }),
});

/** Every operation available over RPC, one per line. */
export const appRouter = router({
  user: {
    me: protectedProcedure.query(showProfile, { show: toMe, missing: null }),
    updateProfile: protectedProcedure.mutation(rename, { show: toSuccess }),
    setLocale: protectedProcedure.mutation(setLocale, { show: toSuccess }),
    completeOnboarding: protectedProcedure.mutation(completeOnboarding, { show: toSuccess }),
    deleteAccount: protectedProcedure.mutation(deleteAccount),
    list: adminProcedure.query(listAllUsers),
    changeRole: adminProcedure.mutation(changeRole),
    delete: adminProcedure.mutation(deleteUser),
  },
  billing: {
    plans: publicProcedure.query(listPlans),
    features: publicProcedure.query(listFeatures),
    subscription: protectedProcedure.query(currentSubscription),
    createCheckout: protectedProcedure.mutation(createCheckout),
    openPortal: protectedProcedure.mutation(openPortal),
    deliveries: adminProcedure.query(listDeliveries),
    replay: adminProcedure.mutation(replayDelivery),
    reconcile: adminProcedure.mutation(reconcileSubscription),
    dismiss: adminProcedure.mutation(dismissSubscription),
  },
  notifications: {
    list: protectedProcedure.query(listNotifications),
    unreadCount: protectedProcedure.query(unreadCount),
    markRead: protectedProcedure.mutation(markOneOrAllRead),
  },
});

function toMe({ id, name, email }: z.input<typeof UserView>): { id: string; name: string; email: string } {
  return { id, name, email };
}

function toSuccess(): { success: true } {
  return { success: true };
}
