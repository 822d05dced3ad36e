import { Skeleton } from "../../../../../ui/skeleton.tsx";

export function UserSkeleton() {
  return (
    <div className="flex flex-col gap-6">
      <Skeleton className="h-20 w-64" />
      <Skeleton className="h-44 w-full" />
      <Skeleton className="h-60 w-full" />
      <Skeleton className="h-72 w-full" />
    </div>
  );
}
