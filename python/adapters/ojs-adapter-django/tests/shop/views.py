"""The view of the specification's example, and one that fails."""

# --- as in "Framework Adapters", section 8.2 ---
from django.db import transaction
from django.http import JsonResponse
from openjobspec.django import ojs

from shop.models import User

def signup(request):
    with transaction.atomic():
        user = User.objects.create(email=request.POST['email'])
        ojs.enqueue_after_commit('email.welcome', [user.id])
    return JsonResponse({'id': user.id}, status=201)
# --- end ---


def failing(request):
    """Raises after it has enqueued."""
    with transaction.atomic():
        user = User.objects.create(email=request.POST["email"])
        ojs.enqueue_after_commit("email.welcome", [user.id])
        raise RuntimeError("the payment was refused")
